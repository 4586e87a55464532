// What tests of kernels share: every instruction set, one after the other, and random rows.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include <hwy/highway.h>

#include "sextant/core/tensor.h"

namespace sextant {

inline constexpr std::size_t kColumns = 64;
inline constexpr auto kRow = static_cast<std::int64_t>(4 * kColumns);

// Runs `test` once on every instruction set that was compiled and that this processor has.
template <class Test>
void on_every_target(const Test& test) {
  int count = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    test();
    ++count;
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GT(count, 0);
}

// Rows of random angles in double-double; the low halves are any small numbers.
inline Tensor<double> random_rows(std::int64_t rows, unsigned seed) {
  std::mt19937_64 random(seed);
  Tensor<double> result({rows, kRow});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      const double angle = std::uniform_real_distribution<>(-4, 4)(random);
      const double sin_rest = std::uniform_real_distribution<>(-0x1p-54, 0x1p-54)(random);
      const double cos_rest = std::uniform_real_distribution<>(-0x1p-54, 0x1p-54)(random);
      double* row = &result(r, 0) + i;
      row[0] = std::sin(angle);
      row[kColumns] = std::cos(angle);
      row[2 * kColumns] = row[0] * sin_rest;
      row[3 * kColumns] = row[kColumns] * cos_rest;
    }
  }
  return result;
}

}  // namespace sextant
