// Every compiled instruction set gives what plain code gives.
#include "kernels/turn_columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <hwy/highway.h>

#include "kernels/double_double.h"
#include "sextant/core/tensor.h"

namespace sextant {
namespace {

constexpr std::size_t kColumns = 64;
constexpr auto kRow = static_cast<std::int64_t>(4 * kColumns);

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
Tensor<double> random_rows(std::int64_t rows, unsigned seed) {
  std::mt19937_64 random(seed);
  Tensor<double> result({rows, kRow});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      const double angle = std::uniform_real_distribution<>(-4, 4)(random);
      double* row = &result(r, 0) + i;
      row[0] = std::sin(angle);
      row[kColumns] = std::cos(angle);
      row[2 * kColumns] = row[0] * std::uniform_real_distribution<>(-0x1p-54, 0x1p-54)(random);
      row[3 * kColumns] =
          row[kColumns] * std::uniform_real_distribution<>(-0x1p-54, 0x1p-54)(random);
    }
  }
  return result;
}

DoubleDouble at(const double* row, std::size_t part, std::size_t i) {
  return {row[part * kColumns + i], row[(part + 2) * kColumns + i]};
}

// The plain twin of turn_exactly.
void naive_turn(const double* a, const double* b, std::size_t i, DoubleDouble& sin,
                DoubleDouble& cos) {
  sin = at(a, 0, i) * at(b, 1, i) + at(a, 1, i) * at(b, 0, i);
  cos = at(a, 1, i) * at(b, 1, i) + -(at(a, 0, i) * at(b, 0, i));
}

double distance(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble difference = a + -b;
  return std::fabs(difference.hi);
}

TEST(TurnColumns, ExactRowsAgreeWithPlainDoubleDoubleArithmetic) {
  const Tensor<double> rows = random_rows(2, 1);
  on_every_target([&] {
    Tensor<double> out({kRow});
    Tensor<double> rounded({kRow / 2});
    turn_exactly(&rows(0, 0), &rows(1, 0), out.data(), kColumns);
    turn_and_round(&rows(0, 0), &rows(1, 0), rounded.data(), kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) {
      DoubleDouble sin;
      DoubleDouble cos;
      naive_turn(&rows(0, 0), &rows(1, 0), i, sin, cos);
      // Both sides are off by a few times 2^-106.
      EXPECT_LE(distance(at(out.data(), 0, i), sin), 0x1p-102);
      EXPECT_LE(distance(at(out.data(), 1, i), cos), 0x1p-102);
      EXPECT_EQ(rounded(static_cast<std::int64_t>(i)), out(static_cast<std::int64_t>(i)));
      EXPECT_EQ(rounded(static_cast<std::int64_t>(kColumns + i)),
                out(static_cast<std::int64_t>(kColumns + i)));
    }
  });
}

TEST(TurnColumns, ExactRowsMayBeTurnedInPlace) {
  const Tensor<double> rows = random_rows(2, 2);
  on_every_target([&] {
    Tensor<double> out({kRow});
    turn_exactly(&rows(0, 0), &rows(1, 0), out.data(), kColumns);
    Tensor<double> place = rows.clone();
    turn_exactly(&place(0, 0), &place(1, 0), &place(0, 0), kColumns);
    EXPECT_EQ(std::memcmp(place.data(), out.data(), kRow * sizeof(double)), 0);
  });
}

TEST(TurnColumns, ValuesAreOneOfTheTwoRoundingsOfTheFormula) {
  const Tensor<double> rows = random_rows(2, 3);
  const double* a = &rows(0, 0);
  const double* b = &rows(1, 0);
  Tensor<double> aligned_guard({static_cast<std::int64_t>(kColumns)});
  on_every_target([&] {
    Tensor<double> values({static_cast<std::int64_t>(kColumns)});
    turn_to_values(a, b, {aligned_guard.data(), 0}, values.data(), kColumns);
    Tensor<double> exact({static_cast<std::int64_t>(kColumns)});
    turn_to_exact_values(a, b, {aligned_guard.data(), 0}, exact.data(), kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) {
      const double cross = a[kColumns + i] * b[i];
      const double fused = std::fma(a[i], b[kColumns + i], cross);
      const double plain = a[i] * b[kColumns + i] + cross;
      const double value = values(static_cast<std::int64_t>(i));
      EXPECT_TRUE(value == fused || value == plain) << i;
      DoubleDouble sin;
      DoubleDouble cos;
      naive_turn(a, b, i, sin, cos);
      EXPECT_NEAR(exact(static_cast<std::int64_t>(i)), sin.hi, std::fabs(sin.hi) * 0x1p-52);
    }
  });
}

// All widths around the vector lengths, one and four anchors, streamed or not, some rows of b, any
// strides.
TEST(TurnColumns, FloatsAreTheRoundedValues) {
  const Tensor<double> b = random_rows(8, 4);
  const Tensor<double> exact_anchors = random_rows(4, 5);
  Tensor<double> anchors({4, kRow / 2});
  for (std::int64_t r = 0; r < 4; ++r) std::copy_n(&exact_anchors(r, 0), kRow / 2, &anchors(r, 0));
  Tensor<double> guard({static_cast<std::int64_t>(kColumns)});
  on_every_target([&] {
    for (const int anchor_count : {1, 4}) {
      for (const std::size_t width : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64}) {
        for (const bool stream : {false, true}) {
          if (stream && width % 16 != 0) continue;
          Tensor<float> out({4 * 8, 80});
          std::uint8_t suspicious[8];
          turn_to_floats(anchors.data(), anchor_count, b.data(), 2, 7, {guard.data(), 0},
                         {out.data(), 80, 8, width, stream}, kColumns, suspicious);
          finish_streaming();
          for (int r = 0; r < anchor_count; ++r) {
            for (int i = 2; i < 7; ++i) {
              Tensor<double> values({static_cast<std::int64_t>(kColumns)});
              turn_to_values(&anchors(r, 0), &b(i, 0), {guard.data(), 0}, values.data(), kColumns);
              for (std::size_t c = 0; c < 80; ++c) {
                const auto column = static_cast<std::int64_t>(c);
                const float expected = c < width ? static_cast<float>(values(column)) : 0.0F;
                ASSERT_EQ(out(8 * r + i - 2, column), expected)
                    << "width " << width << " column " << c;
              }
            }
          }
        }
      }
    }
  });
}

TEST(TurnColumns, ReportsSmallValuesUnlessTheyAreGuarded) {
  Tensor<double> anchors({4, kRow / 2});
  Tensor<double> b({2, kRow});
  Tensor<double> guard({static_cast<std::int64_t>(kColumns)});
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (std::int64_t r = 0; r < 4; ++r) anchors(r, static_cast<std::int64_t>(i)) = -0.5;
    for (std::int64_t r = 0; r < 2; ++r) b(r, static_cast<std::int64_t>(kColumns + i)) = 1;
  }
  anchors(2, 13) = -0x1p-20;  // the value -2^-20 in column 13 of anchor 2
  on_every_target([&] {
    for (const bool guarded : {false, true}) {
      guard(13) = guarded ? kGuard : 0;
      const unsigned expected = guarded ? 0 : 1;
      Tensor<float> out({8, static_cast<std::int64_t>(kColumns)});
      std::uint8_t suspicious[2] = {255, 255};
      const FloatRows rows{out.data(), static_cast<std::int64_t>(kColumns), 2, kColumns, false};
      turn_to_floats(anchors.data(), 4, b.data(), 0, 2, {guard.data(), 0x1p-15}, rows, kColumns,
                     suspicious);
      EXPECT_EQ(suspicious[0], expected << 2);
      EXPECT_EQ(suspicious[1], expected << 2);
      turn_to_floats(&anchors(2, 0), 1, b.data(), 0, 2, {guard.data(), 0x1p-15}, rows, kColumns,
                     suspicious);
      EXPECT_EQ(suspicious[0], expected);
      Tensor<double> values({static_cast<std::int64_t>(kColumns)});
      EXPECT_EQ(turn_to_values(&anchors(2, 0), b.data(), {guard.data(), 0x1p-15}, values.data(),
                               kColumns),
                !guarded);
      EXPECT_FALSE(turn_to_values(&anchors(2, 0), b.data(), {guard.data(), 0x1p-21}, values.data(),
                                  kColumns));
    }
  });
}

TEST(TurnColumns, StreamFillWritesEveryElement) {
  on_every_target([] {
    for (const std::int64_t count : {0, 1, 15, 16, 100}) {
      Tensor<float> out({128});
      stream_fill(out.data(), static_cast<std::size_t>(count), 2.5F);
      for (std::int64_t i = 0; i < 128; ++i) EXPECT_EQ(out(i), i < count ? 2.5F : 0.0F);
    }
  });
}

}  // namespace
}  // namespace sextant
