// KERPLE's logarithmic kernel: -p ln(1 + a |d|).
#include "sextant/schemes/distance/kerple.h"

#include <cmath>
#include <limits>
#include <utility>

#include "schemes/distance/kerple.h"

namespace sextant {

DistanceBias kerple_log(const KerpleWeights& weights, std::int64_t length) {
  schemes_detail::check_kerple("kerple_log", weights);
  return schemes_detail::symmetric_bias(
      "kerple_log", static_cast<std::int64_t>(weights.p.size()), length,
      [&](std::int64_t head, std::int64_t distance) {
        const auto h = static_cast<std::size_t>(head);
        const double a = std::max(weights.a[h], schemes_detail::kMinKerple);
        return schemes_detail::finite(-std::max(weights.p[h], schemes_detail::kMinKerple) *
                                      std::log1p(a * static_cast<double>(distance)));
      });
}

KerpleWeights kerple_log_backward(const KerpleWeights& weights, View<const double> gradient) {
  constexpr double kMaxP = std::numeric_limits<double>::max();
  return schemes_detail::kerple_backward(
      "kerple_log", weights, kMaxP, gradient,
      [](double d, double p, double a) { return std::pair(-std::log1p(a * d), -p / (1 / d + a)); });
}

namespace {

struct KerpleLogWeights : KerpleWeights {};

}  // namespace

template <>
inline constexpr auto kWeights<KerpleLogWeights> =
    std::tuple{weight(&KerpleLogWeights::p, "p", "[heads]",
                      "factor; clamped to at least 0.01, initially uniform in 0 .. 2"),
               weight(&KerpleLogWeights::a, "a", "[heads]",
                      "rate per position; clamped to at least 0.01, initially uniform in 0 .. 1")};

namespace descriptors {
namespace {

constexpr Definition<KerpleLogWeights> kDefinition = {
    .name = "kerple_log",
    .title = "KERPLE log",
    .kind = SchemeKind::distance_bias,
    .idea = "Lowers scores by the logarithm of the distance, with learned rates for each head.",
    .paper = "Chi et al. 2022, 2205.09921",
    .sizes = kerple_sizes,
    .initial = initial_kerple,
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return kerple_log(weights, of.length());
    },
    .backward =
        [](const auto&, const auto& weights, auto gradient) {
          return KerpleLogWeights{kerple_log_backward(weights, gradient)};
        },
};

}  // namespace

constinit const Scheme kKerpleLog = scheme_of<kKerpleLog, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
