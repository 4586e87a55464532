// What tests of biases by distance share: the table of a request, and a formula to hold it against.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "schemes/difference_checks.h"
#include "sextant/core/random.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::testing {

// Ids 0 .. length - 1, and a request for them.
class Asked {
 public:
  Asked(std::int64_t length, std::int64_t heads,
        std::map<std::string, std::string> parameters = {}) {
    for (std::int64_t id = 0; id < length; ++id) ids_.push_back(id);
    request.heads = heads;
    request.positions = ids_;
    request.parameters = std::move(parameters);
  }
  Asked(std::vector<std::int64_t> ids, std::int64_t heads,
        std::map<std::string, std::string> parameters = {})
      : ids_(std::move(ids)) {
    request.heads = heads;
    request.positions = ids_;
    request.parameters = std::move(parameters);
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  SchemeRequest request;

 private:
  std::vector<std::int64_t> ids_;
};

inline DistanceBias distance_bias_of(std::string_view scheme, const SchemeRequest& request) {
  SchemeTable made = find_scheme(scheme).make(request);
  return std::move(std::get<DistanceBias>(made));
}

// What a scheme should add at a distance, key - query, by its paper, in float64.
using DistanceFormula =
    std::function<double(const SchemeWeights&, std::int64_t head, std::int64_t distance)>;

// Every number of the table is the formula's, rounded to float32 once: half a unit in the last
// place, and another 2^-40 for the two ways to compute in float64.
inline void expect_formula(std::string_view scheme, const SchemeRequest& request,
                           const DistanceFormula& formula) {
  const DistanceBias bias = distance_bias_of(scheme, request);
  const SchemeWeights none;
  const std::int64_t length = bias.origin + 1;
  ASSERT_EQ(bias.values.shape(), Shape({request.heads, 2 * length - 1}));
  for (std::int64_t head = 0; head < request.heads; ++head) {
    for (std::int64_t distance = 1 - length; distance < length; ++distance) {
      const double expected =
          formula(request.weights == nullptr ? none : *request.weights, head, distance);
      SCOPED_TRACE("head " + std::to_string(head) + ", distance " + std::to_string(distance));
      const float value = bias.values(head, distance + bias.origin);
      if (std::isinf(expected)) {
        ASSERT_EQ(value, expected);
      } else {
        ASSERT_NEAR(value, expected, std::abs(expected) * (0x1p-24 + 0x1p-40) + 0x1p-140);
      }
    }
  }
}

// The descriptor's gradients are the slopes of sum(g x formula), for numbers g drawn at random.
// Central differences with step 2^-16 are wrong by step^2 / 6 of the third derivative (about 1e-10
// here) and by roundings, 2^-52 of sums below 1000 over the step: 2e-8.
inline void expect_gradients(std::string_view scheme, SchemeRequest request,
                             const SchemeWeights& weights, const DistanceFormula& formula,
                             double tolerance = 1e-6) {
  request.weights = &weights;
  const Scheme& described = find_scheme(scheme);
  const DistanceBias bias = distance_bias_of(scheme, request);
  NumpyRandom random(7);
  Tensor<double> g(bias.values.shape());
  for (double& value : g.span()) value = random.normal();
  const SchemeWeights gradients = described.backward(request, g);
  ASSERT_EQ(gradients.size(), described.weights.size());

  SchemeWeights moved;
  for (const auto& [name, values] : weights) moved.emplace(name, values.clone());
  const auto loss = [&] {
    double sum = 0;
    for (std::int64_t head = 0; head < g.size(0); ++head) {
      for (std::int64_t column = 0; column < g.size(1); ++column) {
        sum += g(head, column) * formula(moved, head, column - bias.origin);
      }
    }
    return sum;
  };
  expect_central_differences(moved, gradients, loss, tolerance);
}

inline Tensor<double> drawn(const Shape& shape, std::uint32_t seed, double least = -1,
                            double most = 1) {
  NumpyRandom random(seed);
  Tensor<double> values(shape);
  for (double& value : values.span()) value = least + (most - least) * random.uniform();
  return values;
}

// The message of what a scheme refuses.
inline std::string refusal(std::string_view scheme, std::map<std::string, std::string> parameters,
                           std::int64_t heads = 2) {
  const Asked asked(4, heads, std::move(parameters));
  return error_of([&] { find_scheme(scheme).make(asked.request); });
}

constexpr double kHidden = -std::numeric_limits<double>::infinity();

}  // namespace sextant::testing
