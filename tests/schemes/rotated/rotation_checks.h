// What the tests of all rotations share: true tables by MPFR, and printed values.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/real.h"
#include "sextant/core/error.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"

namespace sextant::checks {

using reference::Real;
using Frequencies = std::vector<Real>;  // of each pair

// base^(-2k / dim)
inline Frequencies ladder(double base, std::int64_t dim) {
  Frequencies theta;
  for (std::int64_t k = 0; k < dim / 2; ++k) {
    theta.push_back(pow(Real(base), Real(static_cast<double>(-2 * k)) / static_cast<double>(dim)));
  }
  return theta;
}

// Every value of the table is the true one, rounded: within 0.5001 units in the last place.
inline void expect_true(const RotationTable<float>& table, std::span<const std::int64_t> positions,
                        const Frequencies& theta, double amplitude = 1) {
  ASSERT_EQ(table.cos.shape(), Shape({static_cast<std::int64_t>(positions.size()),
                                      static_cast<std::int64_t>(theta.size())}));
  ASSERT_EQ(table.sin.shape(), table.cos.shape());
  double worst = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (std::size_t k = 0; k < theta.size(); ++k) {
      const Real angle = Real(static_cast<double>(positions[i])) * theta[k];
      const auto row = static_cast<std::int64_t>(i);
      const auto pair = static_cast<std::int64_t>(k);
      worst = std::max({worst, (Real(amplitude) * sin(angle)).ulps_off(table.sin(row, pair)),
                        (Real(amplitude) * cos(angle)).ulps_off(table.cos(row, pair))});
    }
  }
  EXPECT_LE(worst, 0.5001);
}

// Small positions, large ones to 2^31 and negative ones.
inline std::vector<std::int64_t> some_positions() {
  return {0, 1, 2, 3, 17, 100, 4095, 4096, 131071, 1048575, 123456789, 2147483647, -5};
}

// Printed with eight significant digits, or as many as `digits`.
inline void expect_printed(std::span<const double> values, std::span<const double> printed,
                           int digits = 8) {
  ASSERT_EQ(values.size(), printed.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(printed[i]))) + 1 - digits);
    EXPECT_NEAR(values[i], printed[i], 0.501 * unit) << i;
  }
}
inline void expect_printed(double value, double printed, int digits = 8) {
  expect_printed(std::span(&value, 1), std::span(&printed, 1), digits);
}

}  // namespace sextant::checks
