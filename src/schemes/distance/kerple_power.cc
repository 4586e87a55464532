// KERPLE's power kernel: -a |d|^p.
#include "sextant/schemes/distance/kerple.h"

#include <cmath>
#include <limits>
#include <utility>

#include "schemes/distance/kerple.h"

namespace sextant {

DistanceBias kerple_power(const KerpleWeights& weights, std::int64_t length) {
  schemes_detail::check_kerple("kerple_power", weights);
  return schemes_detail::symmetric_bias(
      "kerple_power", static_cast<std::int64_t>(weights.p.size()), length,
      [&](std::int64_t head, std::int64_t distance) {
        const auto h = static_cast<std::size_t>(head);
        const double p = std::clamp(weights.p[h], schemes_detail::kMinKerple, 2.0);
        return schemes_detail::finite(-std::max(weights.a[h], schemes_detail::kMinKerple) *
                                      std::pow(static_cast<double>(distance), p));
      });
}

KerpleWeights kerple_power_backward(const KerpleWeights& weights, View<const double> gradient) {
  return schemes_detail::kerple_backward("kerple_power", weights, 2, gradient,
                                         [](double d, double p, double a) {
                                           const double power = std::pow(d, p);
                                           return std::pair(-a * power * std::log(d), -power);
                                         });
}

namespace {

struct KerplePowerWeights : KerpleWeights {};

}  // namespace

template <>
inline constexpr auto kWeights<KerplePowerWeights> =
    std::tuple{weight(&KerplePowerWeights::p, "p", "[heads]",
                      "the power; clamped to 0.01 .. 2, initially uniform in 0 .. 2"),
               weight(&KerplePowerWeights::a, "a", "[heads]",
                      "factor; clamped to at least 0.01, initially uniform in 0 .. 1")};

namespace descriptors {
namespace {

constexpr Definition<KerplePowerWeights> kDefinition = {
    .name = "kerple_power",
    .title = "KERPLE power",
    .kind = SchemeKind::distance_bias,
    .idea = "Lowers scores by a power of the distance, with learned rates for each head.",
    .paper = "Chi et al. 2022, 2205.09921",
    .sizes = kerple_sizes,
    .initial = initial_kerple,
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return kerple_power(weights, of.length());
    },
    .backward =
        [](const auto&, const auto& weights, auto gradient) {
          return KerplePowerWeights{kerple_power_backward(weights, gradient)};
        },
};

}  // namespace

constinit const Scheme kKerplePower = scheme_of<kKerplePower, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
