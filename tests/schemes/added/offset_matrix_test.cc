// The matrix that moves every position by the same offset.
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {
namespace {

// The largest |M PE(p) - PE(p + offset)|.
double worst_miss(Sinusoidal options, std::int64_t p, std::int64_t offset) {
  const Tensor<double> matrix = offset_matrix(options, offset);
  options.length = 1;
  options.first = p;
  const Tensor<double> here = sinusoidal<double>(options);
  options.first = p + offset;
  const Tensor<double> there = sinusoidal<double>(options);
  double worst = 0;
  for (std::int64_t i = 0; i < options.width; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < options.width; ++j) sum += matrix(i, j) * here(0, j);
    worst = std::max(worst, std::fabs(sum - there(0, i)));
  }
  return worst;
}

TEST(OffsetMatrix, MovesEveryPositionByTheSameOffset) {
  // Rounded: four factors, two products and their sum, and the expected value, each by 2^-54 or
  // 2^-53 at most.
  constexpr double kRounding = 0x1p-51;
  const Sinusoidal forms[] = {
      {.width = 64},
      {.width = 64, .layout = SinusoidalLayout::half_split},
      {.width = 64, .layout = SinusoidalLayout::cos_first, .ladder = Ladder::d_half_minus_1},
      {.width = 64, .base = 3, .exponent = Exponent::doubled},
      {.width = 33, .odd_width = OddWidth::zero_column}};
  for (const Sinusoidal& options : forms) {
    for (const std::int64_t p : {0LL, 5LL, 100000LL, 2147483647LL, -7LL}) {
      for (const std::int64_t offset : {0LL, 1LL, 17LL, -300LL, 2147483000LL}) {
        EXPECT_LE(worst_miss(options, p, offset), kRounding) << p << " + " << offset;
      }
    }
  }
}

TEST(OffsetMatrix, DoesNotDependOnTheScale) {
  EXPECT_LE(worst_miss({.width = 8, .scale = 0.25}, 11, 4), 0x1p-53);
  const Tensor<double> a = offset_matrix({.width = 8}, 4);
  const Tensor<double> b = offset_matrix({.width = 8, .scale = 0.25}, 4);
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(a.data()[i], b.data()[i]);
}

TEST(OffsetMatrix, IsTheIdentityForOffsetZeroAndARotationOtherwise) {
  const Tensor<double> identity = offset_matrix({.width = 6}, 0);
  const Tensor<double> turn = offset_matrix({.width = 6}, 12345);
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t j = 0; j < 6; ++j) {
      EXPECT_EQ(identity(i, j), i == j ? 1 : 0);
      double dot = 0;
      for (std::int64_t k = 0; k < 6; ++k) dot += turn(i, k) * turn(j, k);
      EXPECT_NEAR(dot, i == j ? 1 : 0, 0x1p-51);
    }
  }
}

TEST(OffsetMatrix, RefusesFormsWithoutPairs) {
  EXPECT_THROW(offset_matrix({.width = 7}, 1), Error);
  EXPECT_THROW(offset_matrix({.width = 7, .odd_width = OddWidth::round_up}, 1), Error);
  EXPECT_THROW(offset_matrix({.width = 8, .exponent = Exponent::doubled_unpaired}, 1), Error);
  EXPECT_THROW(offset_matrix({.width = 8}, std::int64_t{1} << 60), Error);
  EXPECT_THROW(offset_matrix({.width = 0}, 1), Error);
}

}  // namespace
}  // namespace sextant
