// TISA: a sum of learned bells over the distance.
#include "sextant/schemes/distance/tisa.h"

#include <cmath>
#include <string>
#include <utility>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

void check(const Tisa& weights) {
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
    detail::check_finite("tisa", name, *values);
  }
}

// exp(-|sharpness| far^2); never 0 times infinity.
double bell(double sharpness, double far) {
  return sharpness == 0 ? 1 : std::exp(-std::abs(sharpness) * far * far);
}

}  // namespace

DistanceBias tisa(const Tisa& weights, std::int64_t length) {
  check(weights);
  const std::int64_t kernels = weights.amplitudes.size(1);
  return detail::bias_by_distance(
      "tisa", weights.amplitudes.size(0), length, [&](std::int64_t head, std::int64_t distance) {
        double sum = 0;
        for (std::int64_t s = 0; s < kernels; ++s) {
          sum += weights.amplitudes(head, s) *
                 bell(weights.sharpness(head, s),
                      static_cast<double>(distance) - weights.offsets(head, s));
        }
        return detail::finite(sum);
      });
}

Tisa tisa_backward(const Tisa& weights, View<const double> gradient) {
  check(weights);
  const Shape& shape = weights.amplitudes.shape();
  const std::int64_t length = detail::length_of_gradient("tisa", shape[0], gradient);
  Tisa sums{Tensor<double>(shape), Tensor<double>(shape), Tensor<double>(shape)};
  for (std::int64_t head = 0; head < shape[0]; ++head) {
    for (std::int64_t s = 0; s < shape[1]; ++s) {
      const double a = weights.amplitudes(head, s), b = weights.sharpness(head, s);
      const double sign = b > 0 ? 1 : b < 0 ? -1 : 0;
      for (std::int64_t distance = 1 - length; distance < length; ++distance) {
        const double far = static_cast<double>(distance) - weights.offsets(head, s);
        const double height = bell(b, far);
        if (height == 0) continue;  // so far that even far^2 may not be finite
        const double g = gradient(head, distance + length - 1) * height;
        sums.amplitudes(head, s) += g;
        if (b == 0) continue;
        sums.sharpness(head, s) -= g * a * sign * far * far;
        sums.offsets(head, s) +=
            g * a * (std::abs(b) * (2 * far));  // 0 before anything is infinite
      }
    }
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"kernels", "5", "1 .. 2^16", "bells in each head"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial weights"},
};
constexpr SchemeWeight kWeights[] = {
    {"amplitudes", "[heads, kernels]", "heights; initially normal, deviation 0.1"},
    {"sharpness", "[heads, kernels]", "1 / (2 variance); initially normal, deviation 0.1"},
    {"offsets", "[heads, kernels]", "centres of the bells; initially normal, deviation 5"},
};

std::int64_t kernels_of(const Parameters& given) {
  const std::int64_t kernels = given.integer("kernels");
  if (kernels < 1 || kernels > (1 << 16)) {
    throw Error("tisa.kernels", "must be in 1 .. 2^16, got " + std::to_string(kernels));
  }
  return kernels;
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kTisa, request);
  InitialWeights random(given, request);
  const Shape shape{request.heads, kernels_of(given)};
  SchemeWeights weights;
  weights.emplace("amplitudes", random.normal(shape, 0.1));
  weights.emplace("sharpness", random.normal(shape, 0.1));
  weights.emplace("offsets", random.normal(shape, 5));
  return weights;
}

Tisa weights_of(const Parameters& given, const SchemeRequest& request) {
  const Shape shape{request.heads, kernels_of(given)};
  return {given.weight("amplitudes", shape).clone(), given.weight("sharpness", shape).clone(),
          given.weight("offsets", shape).clone()};
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kTisa, request);
  const std::int64_t length = detail::distances_of("tisa", request);
  detail::check_distances("tisa", request.heads, length);
  return tisa(weights_of(given, request), length);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kTisa, request);
  Tisa sums = tisa_backward(weights_of(given, request), gradient);
  SchemeWeights gradients;
  gradients.emplace("amplitudes", std::move(sums.amplitudes));
  gradients.emplace("sharpness", std::move(sums.sharpness));
  gradients.emplace("offsets", std::move(sums.offsets));
  return gradients;
}

}  // namespace

constinit const Scheme kTisa = {
    .name = "tisa",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a sum of learned bell curves of the signed distance in each head.",
    .paper = "Wennberg & Henter 2021, 2106.01950",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant
