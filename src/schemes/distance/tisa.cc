// TISA: a sum of learned bells over the distance.
#include "sextant/schemes/distance/tisa.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "schemes/initial_weights.h"
#include "schemes/weight_fields.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kWeights<TisaWeights> =
    std::tuple{weight(&TisaWeights::amplitudes, "amplitudes", "[heads, kernels]",
                      "heights; initially normal, deviation 0.1"),
               weight(&TisaWeights::sharpness, "sharpness", "[heads, kernels]",
                      "1 / (2 variance); initially normal, deviation 0.1"),
               weight(&TisaWeights::offsets, "offsets", "[heads, kernels]",
                      "centres of the bells; initially normal, deviation 5")};

// What the shapes of the weights say.
namespace {

struct TisaSizes {
  std::int64_t kernels = 5;
};

}  // namespace

template <>
inline constexpr auto kFields<TisaSizes> = std::tuple{
    field(&TisaSizes::kernels, "kernels", IntegerRange{1, 1 << 16}, "bells in each head")};

namespace {

void check(const TisaWeights& weights) {
  if (weights.amplitudes.rank() != 2 || weights.amplitudes.size(1) < 1) {
    throw Error("tisa.amplitudes", "must be [heads, kernels] with at least one kernel, got " +
                                       weights.amplitudes.shape().to_string());
  }
  const std::pair<const char*, const Tensor<double>*> all[] = {{"amplitudes", &weights.amplitudes},
                                                               {"sharpness", &weights.sharpness},
                                                               {"offsets", &weights.offsets}};
  for (const auto& [name, values] : all) {
    if (values->shape() != weights.amplitudes.shape()) {
      throw Error(std::string("tisa.") + name, "must be " + weights.amplitudes.shape().to_string() +
                                                   ", as the amplitudes, got " +
                                                   values->shape().to_string());
    }
    schemes_detail::check_finite("tisa", name, *values);
  }
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

WeightSizes weight_sizes(const SchemeRequest& request) {
  const std::vector sizes{request.heads, Parameters(kTisa, request).options<TisaSizes>().kernels};
  return {{"amplitudes", sizes}, {"sharpness", sizes}, {"offsets", sizes}};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  InitialWeights weights(kTisa, request);
  weights.normal("amplitudes", 0.1);
  weights.normal("sharpness", 0.1);
  weights.normal("offsets", 5);
  return weights.take();
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kTisa, request);
  return tisa(weights_of<TisaWeights>(given), schemes_detail::distances_of("tisa", request));
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  return named(tisa_backward(weights_of<TisaWeights>(Parameters(kTisa, request)), gradient));
}

}  // namespace

constinit const Scheme kTisa = {
    .name = "tisa",
    .title = "TISA",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a sum of learned bell curves of the signed distance in each head.",
    .paper = "Wennberg & Henter 2021, 2106.01950",
    .parameters = parameters_of<TisaSizes, InitialSeed>,
    .make = make,
    .weights = kWeightList<TisaWeights>,
    .weight_sizes = weight_sizes,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant
