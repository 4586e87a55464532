// KERPLE's power kernel: -a |d|^p.
#include "sextant/schemes/distance/kerple.h"

#include <cmath>
#include <limits>
#include <utility>

#include "schemes/distance/kerple.h"

namespace sextant {

DistanceBias kerple_power(const Kerple& weights, std::int64_t length) {
  detail::check_kerple("kerple_power", weights);
  return detail::symmetric_bias(
      "kerple_power", static_cast<std::int64_t>(weights.p.size()), length,
      [&](std::int64_t head, std::int64_t distance) {
        const auto h = static_cast<std::size_t>(head);
        const double p = std::clamp(weights.p[h], detail::kLeastKerple, 2.0);
        return detail::finite(-std::max(weights.a[h], detail::kLeastKerple) *
                              std::pow(static_cast<double>(distance), p));
      });
}

Kerple kerple_power_backward(const Kerple& weights, View<const double> gradient) {
  return detail::kerple_backward("kerple_power", weights, 2, gradient,
                                 [](double d, double p, double a) {
                                   const double power = std::pow(d, p);
                                   return std::pair(-a * power * std::log(d), -power);
                                 });
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"seed", "0", "0 .. 2^32 - 1", "of the initial weights"},
};
constexpr SchemeWeight kWeights[] = {
    {"p", "[heads]", "the power; clamped to 0.01 .. 2, initially uniform in 0 .. 2"},
    {"a", "[heads]", "factor; clamped to at least 0.01, initially uniform in 0 .. 1"},
};

SchemeWeights initial_weights(const SchemeRequest& request) {
  return initial_kerple(kKerplePower, request);
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kKerplePower, request);
  const std::int64_t length = detail::distances_of("kerple_power", request);
  detail::check_distances("kerple_power", request.heads, length);
  return kerple_power(kerple_of(given, request), length);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kKerplePower, request);
  return weights_of(kerple_power_backward(kerple_of(given, request), gradient));
}

}  // namespace

constinit const Scheme kKerplePower = {
    .name = "kerple_power",
    .kind = SchemeKind::distance_bias,
    .idea = "Lowers scores by a power of the distance, with learned rates for each head.",
    .paper = "Chi et al. 2022, 2205.09921",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant
