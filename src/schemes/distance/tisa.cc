// TISA: a sum of learned bells over the distance.
#include "sextant/schemes/distance/tisa.h"

#include <cmath>
#include <vector>

#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kWeights<TisaWeights> =
    std::tuple{weight(&TisaWeights::amplitudes, "amplitudes", "[heads, kernels]",
                      "heights; initially normal, standard deviation 0.1"),
               weight(&TisaWeights::sharpness, "sharpness", "[heads, kernels]",
                      "1 / (2 variance); initially normal, standard deviation 0.1"),
               weight(&TisaWeights::offsets, "offsets", "[heads, kernels]",
                      "centres of the bells; initially normal, standard deviation 5")};

// Sizes from the shapes of the weights.
namespace {

struct TisaSizes {
  std::int64_t kernels = 5;
};

}  // namespace

template <>
inline constexpr auto kFields<TisaSizes> = std::tuple{
    field(&TisaSizes::kernels, "kernels", IntegerRange{1, 1 << 16}, "bell curves per head")};

namespace {

void check(const TisaWeights& weights) {
  const Tensor<double>& amplitudes = weights.amplitudes;
  schemes_detail::check_weight("tisa", "amplitudes", amplitudes, {"heads", "kernels"});
  if (amplitudes.size(1) < 1) throw Error("tisa.amplitudes", "must have at least one kernel");
  const std::int64_t heads = amplitudes.size(0), kernels = amplitudes.size(1);
  schemes_detail::check_weight("tisa", "sharpness", weights.sharpness, {heads, kernels},
                               ", as the amplitudes");
  schemes_detail::check_weight("tisa", "offsets", weights.offsets, {heads, kernels},
                               ", as the amplitudes");
}

// exp(-|sharpness| offset^2); never 0 times infinity.
double gaussian(double sharpness, double offset) {
  return sharpness == 0 ? 1 : std::exp(-std::abs(sharpness) * offset * offset);
}

}  // namespace

DistanceBias tisa(const TisaWeights& weights, std::int64_t length) {
  check(weights);
  const std::int64_t kernels = weights.amplitudes.size(1);
  return schemes_detail::bias_by_distance(
      "tisa", weights.amplitudes.size(0), length, [&](std::int64_t head, std::int64_t distance) {
        double sum = 0;
        for (std::int64_t s = 0; s < kernels; ++s) {
          sum += weights.amplitudes(head, s) *
                 gaussian(weights.sharpness(head, s),
                          static_cast<double>(distance) - weights.offsets(head, s));
        }
        return schemes_detail::finite(sum);
      });
}

TisaWeights tisa_backward(const TisaWeights& weights, View<const double> gradient) {
  check(weights);
  const Shape& shape = weights.amplitudes.shape();
  const std::int64_t length = schemes_detail::length_of_gradient("tisa", shape[0], gradient);
  TisaWeights sums{Tensor<double>(shape), Tensor<double>(shape), Tensor<double>(shape)};
  for (std::int64_t head = 0; head < shape[0]; ++head) {
    for (std::int64_t s = 0; s < shape[1]; ++s) {
      const double a = weights.amplitudes(head, s), b = weights.sharpness(head, s);
      const double sign = b > 0 ? 1 : b < 0 ? -1 : 0;
      for (std::int64_t distance = 1 - length; distance < length; ++distance) {
        const double offset = static_cast<double>(distance) - weights.offsets(head, s);
        const double height = gaussian(b, offset);
        if (height == 0) continue;  // a distance whose square may overflow
        const double g = gradient(head, distance + length - 1) * height;
        sums.amplitudes(head, s) += g;
        if (b == 0) continue;
        sums.sharpness(head, s) -= g * a * sign * offset * offset;
        sums.offsets(head, s) +=
            g * a * (std::abs(b) * (2 * offset));  // 0 before anything is infinite
      }
    }
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<TisaWeights, TisaSizes> kDefinition = {
    .name = "tisa",
    .title = "TISA",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a sum of learned bell curves of the signed distance in each head.",
    .paper = "Wennberg & Henter 2021, 2106.01950",
    .sizes = [](const auto& of) -> WeightSizes {
      const std::vector sizes{of.request.heads, of.kernels};
      return {{"amplitudes", sizes}, {"sharpness", sizes}, {"offsets", sizes}};
    },
    .initial =
        [](const auto&, InitialWeights& to) {
          to.normal("amplitudes", 0.1);
          to.normal("sharpness", 0.1);
          to.normal("offsets", 5);
        },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return tisa(weights, of.length());
    },
    .backward = [](const auto&, const auto& weights,
                   auto gradient) { return tisa_backward(weights, gradient); },
};

}  // namespace

constinit const Scheme kTisa = scheme_of<kTisa, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
