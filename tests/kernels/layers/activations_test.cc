// Activations on every compiled instruction set against their formulas in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/layers/layer_numbers.h"
#include "kernels/layers/rows.h"
#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

constexpr RowActivation kKinds[] = {RowActivation::relu, RowActivation::gelu,
                                    RowActivation::gelu_tanh, RowActivation::silu};

double gate(RowActivation kind, double x) {
  switch (kind) {
    case RowActivation::relu:
      return x > 0;
    case RowActivation::gelu:
      return 0.5 * std::erfc(-x / std::sqrt(2.0));
    case RowActivation::gelu_tanh:
      // (1 + tanh z) / 2 without a difference
      return 1 / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case RowActivation::silu:
      return 1 / (1 + std::exp(-x));
  }
  return 0;
}

double slope(RowActivation kind, double x) {
  const double g = gate(kind, x);
  switch (kind) {
    case RowActivation::relu:
      return g;
    case RowActivation::gelu:
      return g + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    case RowActivation::gelu_tanh:
      return g + x * 2 * g * (1 - g) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
    case RowActivation::silu:
      return g + x * g * (1 - g);
  }
  return 0;
}

// Every gate is e / (1 + e) or e q of some e = e^-u, whose relative error is 4e-7 and, unfused,
// |u| 2^-23 more; u itself has three roundings, |u| 2^-23 together. Gates of what is above 0 are at
// least 1/2 and take only the part e < 1 of it: |u| e^-|u| < 0.4. Five more roundings make
// 4e-7 + 5 2^-24 + 0.8 2^-23 < 1e-6 of an absolute error, and for x < 0 relative to the gate
// 4e-7 + 5 2^-24 + 2 |u| 2^-23, where |u| < 2 |x| + x^2 / 2 + 0.08 |x|^3.
double bound(double x) {
  const double u = 2 * std::fabs(x) + x * x / 2 + 0.08 * std::fabs(x * x * x);
  return x < 0 ? 8e-7 + u * 0x1p-22 : 1e-6;
}

std::vector<float> arguments() {
  std::vector<float> x = normal_numbers(4099, 1, 3);
  for (int i = -800; i <= 800; ++i) x.push_back(0.01F * static_cast<float>(i));
  for (const float v : {0.0F, -0.0F, 1e-20F, -1e-20F, 30.0F, 100.0F, 1e10F}) x.push_back(v);
  return x;
}

TEST(RowActivations, AreTheirFormulas) {
  const std::vector<float> x = arguments();
  on_every_target([&] {
    for (const RowActivation kind : kKinds) {
      std::vector<float> y(x.size());
      activate(kind, x.data(), static_cast<std::int64_t>(x.size()), y.data(), 2);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double expected = wide(x[i]) * gate(kind, wide(x[i]));
        // What is below the normal numbers is 0.
        ASSERT_NEAR(y[i], expected, bound(wide(x[i])) * std::fabs(expected) + 1e-36)
            << int(kind) << " at " << x[i];
      }
    }
  });
}

// The terms of the slope, the gate and x times its slope, have errors relative to each: for x < 0
// the second has |x| + 1 times the gate's size at most (u' x with u' <= |x| + 1.6 and 0.22 x^2).
TEST(RowActivations, HaveTheSlopesOfTheirFormulas) {
  const std::vector<float> x = arguments();
  const std::vector<float> dy = normal_numbers(static_cast<std::int64_t>(x.size()), 2);
  on_every_target([&] {
    for (const RowActivation kind : kKinds) {
      std::vector<float> dx(x.size());
      activate_backward(kind, dy.data(), x.data(), static_cast<std::int64_t>(x.size()), dx.data(),
                        2);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double at = wide(x[i]);
        const double size = std::fabs(at);
        const double g = gate(kind, size) * gate(kind, -size);  // of either side
        const double terms = gate(kind, at) + size * (size + 1.6 + 0.22 * size * size) * g;
        const double expected = wide(dy[i]) * slope(kind, at);
        ASSERT_NEAR(dx[i], expected, bound(-size) * std::fabs(wide(dy[i])) * terms + 1e-36)
            << int(kind) << " at " << x[i];
      }
    }
  });
}

TEST(RowActivations, KeepNan) {
  on_every_target([] {
    for (const RowActivation kind : kKinds) {
      std::vector<float> x(37, std::numeric_limits<float>::quiet_NaN());
      std::vector<float> ones(37, 1.0F), dx(37);
      activate_backward(kind, ones.data(), x.data(), 37, dx.data(), 1);
      activate(kind, x.data(), 37, x.data(), 1);
      for (int i = 0; i < 37; ++i) {
        EXPECT_TRUE(std::isnan(x[i])) << int(kind);
        EXPECT_TRUE(std::isnan(dx[i]) || kind == RowActivation::relu) << int(kind);
      }
    }
  });
}

// The formulas above, twice rounded more.
TEST(GatedActivations, AreTheFunctionTimesTheOtherHalf) {
  on_every_target([] {
    for (const RowActivation kind : kKinds) {
      for (const std::int64_t width : kWidths) {
        const RowShape shape{5, width};
        const std::int64_t row = 2 * width;
        const auto both = normal_numbers(5 * row, 1, 2), dy = normal_numbers(5 * width, 2);
        std::vector<float> y(dy.size()), gradient(both.size());
        gated(kind, shape, both.data(), both.data() + width, row, y.data(), 2);
        gated_backward(kind, shape, dy.data(), both.data(), both.data() + width, row,
                       gradient.data(), gradient.data() + width, 2);
        for (std::int64_t r = 0; r < 5; ++r) {
          for (std::int64_t c = 0; c < width; ++c) {
            const double g = wide(both[r * row + c]), u = wide(both[r * row + width + c]);
            const double t = wide(dy[r * width + c]);
            const double open = g * gate(kind, g), size = std::fabs(g);
            const double error = bound(-size) + 0x1p-22;
            ASSERT_NEAR(y[r * width + c], open * u, error * std::fabs(open * u)) << int(kind);
            ASSERT_NEAR(gradient[r * row + width + c], t * open, error * std::fabs(t * open));
            const double sides = gate(kind, size) * gate(kind, -size);
            const double terms = gate(kind, g) + size * (size + 1.6 + 0.22 * size * size) * sides;
            ASSERT_NEAR(gradient[r * row + c], t * u * slope(kind, g),
                        error * std::fabs(t * u) * terms);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace sextant::kernels
