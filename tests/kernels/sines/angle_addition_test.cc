// Every compiled instruction set gives what plain code gives.
#include "kernels/sines/angle_addition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/numbers/double_double.h"
#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

DoubleDouble at(const double* row, std::size_t part, std::size_t i) {
  return {row[part * kColumns + i], row[(part + 2) * kColumns + i]};
}

// The plain twin of add_angles_exactly.
void naive_sum(const double* a, const double* b, std::size_t i, DoubleDouble& sin,
               DoubleDouble& cos) {
  sin = at(a, 0, i) * at(b, 1, i) + at(a, 1, i) * at(b, 0, i);
  cos = at(a, 1, i) * at(b, 1, i) + -(at(a, 0, i) * at(b, 0, i));
}

double distance(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble difference = a + -b;
  return std::fabs(difference.hi);
}

// add_angles_to_anchor of two rows is off by two roundings at most.
void expect_anchors(const Tensor<double>& rows) {
  Tensor<double> anchor({kRow / 2});
  add_angles_to_anchor(&rows(0, 0), &rows(1, 0), anchor.data(), kColumns);
  for (std::size_t i = 0; i < kColumns; ++i) {
    DoubleDouble sin;
    DoubleDouble cos;
    naive_sum(&rows(0, 0), &rows(1, 0), i, sin, cos);
    EXPECT_LE(distance({anchor.data()[i], 0}, sin), 0x1p-53);
    EXPECT_LE(distance({anchor.data()[kColumns + i], 0}, cos), 0x1p-53);
  }
}

TEST(AngleAddition, ExactRowsAgreeWithPlainDoubleDoubleArithmetic) {
  const Tensor<double> rows = random_rows(2, 1);
  on_every_target([&] {
    Tensor<double> out({kRow});
    Tensor<double> rounded({kRow / 2});
    add_angles_exactly(&rows(0, 0), &rows(1, 0), out.data(), kColumns);
    add_angles_rounded(&rows(0, 0), &rows(1, 0), rounded.data(), kColumns);
    expect_anchors(rows);
    for (std::size_t i = 0; i < kColumns; ++i) {
      DoubleDouble sin;
      DoubleDouble cos;
      naive_sum(&rows(0, 0), &rows(1, 0), i, sin, cos);
      // Both sides are off by a few times 2^-106.
      EXPECT_LE(distance(at(out.data(), 0, i), sin), 0x1p-102);
      EXPECT_LE(distance(at(out.data(), 1, i), cos), 0x1p-102);
      EXPECT_EQ(rounded(static_cast<std::int64_t>(i)), out(static_cast<std::int64_t>(i)));
      EXPECT_EQ(rounded(static_cast<std::int64_t>(kColumns + i)),
                out(static_cast<std::int64_t>(kColumns + i)));
    }
  });
}

// Low halves as large as they get, all of one sign: together more than the bound.
TEST(AngleAddition, AnchorsAreOffByTwoRoundingsWhateverTheLowHalves) {
  Tensor<double> rows({2, kRow});
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      const double angle =
          0.6 + 0.35 * static_cast<double>(i) / kColumns + 0.05 * static_cast<double>(r);
      double* row = &rows(r, 0) + i;
      row[0] = std::sin(angle);
      row[kColumns] = std::cos(angle);
      row[2 * kColumns] = row[3 * kColumns] = 0.99 * 0x1p-54;
    }
  }
  on_every_target([&] { expect_anchors(rows); });
}

TEST(AngleAddition, ExactRowsMayBeTurnedInPlace) {
  const Tensor<double> rows = random_rows(2, 2);
  on_every_target([&] {
    Tensor<double> out({kRow});
    add_angles_exactly(&rows(0, 0), &rows(1, 0), out.data(), kColumns);
    Tensor<double> place = rows.clone();
    add_angles_exactly(&place(0, 0), &place(1, 0), &place(0, 0), kColumns);
    EXPECT_EQ(std::memcmp(place.data(), out.data(), kRow * sizeof(double)), 0);
  });
}

TEST(AngleAddition, ValuesAreOneOfTheTwoRoundingsOfTheFormula) {
  const Tensor<double> rows = random_rows(2, 3);
  const double* a = &rows(0, 0);
  const double* b = &rows(1, 0);
  Tensor<double> aligned_guard({static_cast<std::int64_t>(kColumns)});
  on_every_target([&] {
    Tensor<double> values({static_cast<std::int64_t>(kColumns)});
    sines_of_sums(a, b, {aligned_guard.data(), 0}, values.data(), kColumns);
    Tensor<double> exact({static_cast<std::int64_t>(kColumns)});
    sines_of_exact_sums(a, b, {aligned_guard.data(), 0}, exact.data(), kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) {
      const double cross = a[kColumns + i] * b[i];
      const double fused = std::fma(a[i], b[kColumns + i], cross);
      const double plain = a[i] * b[kColumns + i] + cross;
      const double value = values(static_cast<std::int64_t>(i));
      EXPECT_TRUE(value == fused || value == plain) << i;
      DoubleDouble sin;
      DoubleDouble cos;
      naive_sum(a, b, i, sin, cos);
      EXPECT_NEAR(exact(static_cast<std::int64_t>(i)), sin.hi, std::fabs(sin.hi) * 0x1p-52);
    }
  });
}

TEST(AngleAddition, FindsTheSuspiciousColumns) {
  Tensor<double> anchor({kRow / 2});
  Tensor<double> b({kRow});
  Tensor<double> guard({static_cast<std::int64_t>(kColumns)});
  for (std::size_t i = 0; i < kColumns; ++i) {
    anchor.data()[i] = -0.5;
    b.data()[kColumns + i] = 1;
  }
  for (const std::size_t i : {0, 13, 14, 63}) anchor.data()[i] = -0x1p-20;
  guard(14) = kGuard;
  on_every_target([&] {
    std::int32_t found[kColumns];
    ASSERT_EQ(find_cancellations(anchor.data(), b.data(), {guard.data(), 0x1p-15}, found, kColumns),
              3U);
    EXPECT_EQ(found[0], 0);
    EXPECT_EQ(found[1], 13);
    EXPECT_EQ(found[2], 63);
    EXPECT_EQ(find_cancellations(anchor.data(), b.data(), {guard.data(), 0x1p-21}, found, kColumns),
              0U);
  });
}

}  // namespace
}  // namespace sextant::kernels
