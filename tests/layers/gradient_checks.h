// Gradients of layers against central differences in float64.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"

namespace sextant {

inline Tensor<double> random_tensor(const Shape& shape, std::uint32_t seed, double size = 1) {
  NumpyRandom random(seed);
  Tensor<double> tensor(shape);
  for (double& x : tensor.span()) x = size * random.normal();
  return tensor;
}

// Sum of a .* b: a loss whose gradient with respect to a is b.
inline double inner(View<const double> a, View<const double> b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

// How far a difference is trusted. A central difference with step h is off by h^2 / 6 times the
// third derivative, which for norms and softmaxes of small widths reaches some hundreds, and by the
// loss's rounding over h: 2^-53 |loss| / h in float64.
struct Differences {
  double step = 1e-5;
  double tolerance = 2e-8;  // relative to 1 + the slope
};
// Where the loss goes through tables of float32: the rounding 2^-24 of some tens of numbers over a
// step of 2^-11.
inline constexpr Differences kThroughFloat32{0x1p-11, 4e-3};

// `gradient` is that of loss() with respect to `values`. At most `most` places are tried, spread
// evenly.
inline void expect_gradient(std::span<double> values, std::span<const double> gradient,
                            const std::function<double()>& loss, const std::string& what,
                            std::int64_t most = 40, Differences by = {}) {
  ASSERT_EQ(values.size(), gradient.size()) << what;
  const std::size_t every =
      std::max<std::size_t>(1, values.size() / static_cast<std::size_t>(most));
  for (std::size_t i = 0; i < values.size(); i += every) {
    const double kept = values[i];
    values[i] = kept + by.step;
    const double above = loss();
    values[i] = kept - by.step;
    const double below = loss();
    values[i] = kept;
    const double difference = (above - below) / (2 * by.step);
    EXPECT_NEAR(gradient[i], difference,
                by.tolerance * (1 + std::abs(difference)) + 1e-10 * std::abs(above))
        << what << ", place " << i;
  }
}

// The same for every parameter of a layer.
inline void expect_gradients(const Parameters<double>& values, const Parameters<double>& gradients,
                             const std::function<double()>& loss, std::int64_t most = 12,
                             Differences by = {}) {
  ASSERT_EQ(values.size(), gradients.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i].name, gradients[i].name);
    ASSERT_EQ(values[i].tensor->shape(), gradients[i].tensor->shape()) << values[i].name;
    expect_gradient(values[i].tensor->span(), gradients[i].tensor->span(), loss, values[i].name,
                    most, by);
  }
}

template <class Layer>
Parameters<double> listed(Layer& layer) {
  Parameters<double> list;
  layer.append_parameters(list, "");
  return list;
}

}  // namespace sextant
