// Rotation tables and the rotation of channels.
#include "sextant/schemes/rotated/rotary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reference/mpfr_sines.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "support/error_of.h"

namespace sextant::rotary_test {
namespace {

using reference::TrueSine;

TEST(RotaryTable, IsWithin0_5001UnitsOfTheTrueValue) {
  std::mt19937_64 random(21);
  double worst = 0;
  for (const double base : {10000.0, 500000.0, 100.0, 1e6}) {
    const Rotary options{.head_dim = 128, .base = base};
    std::vector<std::int64_t> positions = {0, 1, 131071, 1048575, (std::int64_t{1} << 31) - 1, -5};
    while (positions.size() < 64) positions.push_back(static_cast<std::int64_t>(random() >> 33));
    const RotationTable<float> table = rotary<float>(options, positions);
    const RotationTable<float> run = rotary<float>(options, 300);
    for (std::int64_t k = 0; k < 64; ++k) {
      TrueSine sine(base, 2 * k, 128, false);
      TrueSine cosine(base, 2 * k, 128, true);
      for (std::int64_t i = 0; i < 64; ++i) {
        const std::int64_t p = positions[static_cast<std::size_t>(i)];
        worst = std::max(
            worst, sine.ulps_off(static_cast<double>(table.sin(i, k)), p, reference::kFloat32));
        worst = std::max(
            worst, cosine.ulps_off(static_cast<double>(table.cos(i, k)), p, reference::kFloat32));
        const std::int64_t row = 4 * i + 40;
        worst = std::max(
            worst, sine.ulps_off(static_cast<double>(run.sin(row, k)), row, reference::kFloat32));
        worst = std::max(
            worst, cosine.ulps_off(static_cast<double>(run.cos(row, k)), row, reference::kFloat32));
      }
    }
  }
  EXPECT_LE(worst, 0.5001);
  EXPECT_GE(worst, 0.49);
}

TEST(RotaryTable, HasTheSameBitsForListedPositionsAndAnyThreads) {
  std::vector<std::int64_t> positions(3000);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i);
  const RotationTable<float> one = rotary<float>({.head_dim = 64, .threads = 1}, 3000);
  const RotationTable<float> two = rotary<float>({.head_dim = 64, .threads = 2}, 3000);
  const RotationTable<float> listed = rotary<float>({.head_dim = 64}, positions);
  const std::size_t bytes = static_cast<std::size_t>(one.cos.count()) * sizeof(float);
  for (const auto* other : {&two, &listed}) {
    EXPECT_EQ(std::memcmp(one.cos.data(), other->cos.data(), bytes), 0);
    EXPECT_EQ(std::memcmp(one.sin.data(), other->sin.data(), bytes), 0);
  }
}

TEST(RotaryTable, FrameworkPrecisionRoundsTheAngleToFloat32) {
  const RotationTable<float> table =
      rotary<float>({.head_dim = 8, .precision = Precision::framework}, 2000);
  for (const std::int64_t p : {0, 3, 1999}) {
    for (std::int64_t k = 0; k < 4; ++k) {
      const auto frequency = static_cast<float>(std::pow(10.0, -static_cast<double>(k)));
      const double angle = static_cast<double>(static_cast<float>(p) * frequency);
      EXPECT_EQ(table.sin(p, k), static_cast<float>(std::sin(angle)));
      EXPECT_EQ(table.cos(p, k), static_cast<float>(std::cos(angle)));
    }
  }
}

TEST(RotaryTable, IntoGivenMemoryIsTheSameTable) {
  const RotationTable<float> made = rotary<float>({.head_dim = 12}, 40);
  RotationTable<float> given{Tensor<float>({40, 6}), Tensor<float>({40, 6})};
  rotary_into(given, {.head_dim = 12, .layout = RotaryLayout::interleaved});
  EXPECT_EQ(given.layout, RotaryLayout::interleaved);
  EXPECT_EQ(std::memcmp(made.cos.data(), given.cos.data(), 240 * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(made.sin.data(), given.sin.data(), 240 * sizeof(float)), 0);
}

// x = 1 .. 8 at position 3, printed with eight significant digits.
void expect_turned(const Rotary& options, const std::vector<double>& printed) {
  const std::int64_t positions[] = {3};
  const RotationTable<double> table = rotary<double>(options, positions);
  Tensor<double> x({1, 1, 1, 8});
  for (std::int64_t c = 0; c < 8; ++c) x(0, 0, 0, c) = static_cast<double>(c + 1);
  rotate<double>(x, x, table);
  for (std::int64_t c = 0; c < 8; ++c) {
    EXPECT_NEAR(x(0, 0, 0, c), printed[static_cast<std::size_t>(c)], 5.01e-8) << c;
  }
}

TEST(Rotate, GivesTheValuesOfTheCatalogue) {
  constexpr RotaryLayout kAdjacent = RotaryLayout::interleaved;
  expect_turned({.head_dim = 8, .layout = kAdjacent}, {-1.2722325, -1.8388650, 1.6839286, 4.7079066,
                                                       4.8177772, 6.1472777, 6.9759685, 8.0209640});
  expect_turned({.head_dim = 8}, {-1.6955925, 0.13755174, 2.7886816, 3.9759820, -4.8088425,
                                  6.3230593, 7.0868367, 8.0119640});
  expect_turned({.head_dim = 8, .rotary_dim = 4},
                {-1.4133525, 1.8791181, -2.8288575, 4.0581911, 5, 6, 7, 8});
  expect_turned({.head_dim = 8, .rotary_dim = 4, .layout = kAdjacent},
                {-1.2722325, -1.8388650, 2.8786681, 4.0881866, 5, 6, 7, 8});
}

TEST(Rotate, ScoresDependOnTheDistanceOnly) {
  const std::int64_t here[] = {5, 17};
  const std::int64_t there[] = {1000005, 1000017};
  std::mt19937 random(5);
  Tensor<double> x({1, 1, 2, 16});
  for (double& value : x.span()) value = std::uniform_real_distribution<>(-1, 1)(random);
  double scores[2];
  for (int i = 0; i < 2; ++i) {
    Tensor<double> turned({1, 1, 2, 16});
    rotate<double>(x, turned, rotary<double>({.head_dim = 16}, i == 0 ? here : there));
    scores[i] = 0;
    for (std::int64_t c = 0; c < 16; ++c) scores[i] += turned(0, 0, 0, c) * turned(0, 0, 1, c);
  }
  EXPECT_NEAR(scores[0], scores[1], 16 * 8 * 0x1p-53);  // 16 products of four roundings each
}

template <class T>
class RotateTypes : public ::testing::Test {};
using AllTypes = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(RotateTypes, AllTypes);

// Views of [batch, length, heads, head_dim], in place or not, against the formula in double; 16-bit
// types compute in float32 and round once.
TYPED_TEST(RotateTypes, TurnsStridedHeadsInPlaceAndOutOfPlace) {
  using T = TypeParam;
  std::mt19937 random(6);
  for (const RotaryLayout layout : {RotaryLayout::interleaved, RotaryLayout::half_split}) {
    RotationTable<T> table = rotary<T>({.head_dim = 10, .rotary_dim = 6, .layout = layout}, 5);
    table.first_channel = 3;
    Tensor<T> storage({2, 5, 3, 10});
    for (T& value : storage.span())
      value = static_cast<T>(std::uniform_real_distribution<>(-2, 2)(random));
    const Tensor<T> before = storage.clone();
    Tensor<T> out({2, 3, 5, 10});
    rotate<T>(before.view().transpose(1, 2), out, table);
    rotate<T>(storage.view().transpose(1, 2), storage.view().transpose(1, 2), table);
    const double unit = std::is_same_v<T, double>    ? 0x1p-52
                        : std::is_same_v<T, float>   ? 0x1p-23
                        : std::is_same_v<T, float16> ? 0x1p-10
                                                     : 0x1p-7;
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t h = 0; h < 3; ++h) {
        for (std::int64_t n = 0; n < 5; ++n) {
          for (std::int64_t c = 0; c < 10; ++c) {
            double expected = static_cast<double>(before(b, n, h, c));
            if (c >= 3 && c < 9) {
              const std::int64_t i = c - 3;
              const bool adjacent = layout == RotaryLayout::interleaved;
              const std::int64_t k = adjacent ? i / 2 : i % 3;
              const bool second = adjacent ? i % 2 == 1 : i >= 3;
              const double x1 = static_cast<double>(before(b, n, h, adjacent ? 3 + 2 * k : 3 + k));
              const double x2 = static_cast<double>(before(b, n, h, adjacent ? 4 + 2 * k : 6 + k));
              const auto cosine = static_cast<double>(table.cos(n, k));
              const auto sine = static_cast<double>(table.sin(n, k));
              expected = second ? x1 * sine + x2 * cosine : x1 * cosine - x2 * sine;
            }
            // |result| < 4: half a unit of the result, and float32 arithmetic before it.
            EXPECT_NEAR(static_cast<double>(out(b, h, n, c)), expected,
                        2 * unit + (unit > 1e-15 ? 8 * 0x1p-24 : 0));
            EXPECT_EQ(static_cast<double>(storage(b, n, h, c)),
                      static_cast<double>(out(b, h, n, c)));
          }
        }
      }
    }
  }
}

template <class T>
class RotateShort : public ::testing::Test {};
using ShortTypes = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(RotateShort, ShortTypes);

// The table of float32 leaves the rounding of the result as the only 16-bit one: it has the bits of
// the float32 rotation of the same numbers, rounded.
TYPED_TEST(RotateShort, TakesATableOfFloat32) {
  using T = TypeParam;
  std::mt19937 random(7);
  Tensor<T> x({2, 3, 5, 12});
  Tensor<float> wide(x.shape());
  for (std::int64_t i = 0; i < x.count(); ++i) {
    x.data()[i] = static_cast<T>(std::uniform_real_distribution<>(-2, 2)(random));
    wide.data()[i] = static_cast<float>(x.data()[i]);
  }
  for (const RotaryLayout layout : {RotaryLayout::interleaved, RotaryLayout::half_split}) {
    const RotationTable<float> table =
        rotary<float>({.head_dim = 12, .rotary_dim = 10, .layout = layout}, 5);
    Tensor<T> turned(x.shape());
    Tensor<float> expected(x.shape());
    for (const bool back : {false, true}) {
      if (back) {
        rotate_back<T>(x, turned, table);
        rotate_back<float>(wide, expected, table);
      } else {
        rotate<T>(x, turned, table);
        rotate<float>(wide, expected, table);
      }
      for (std::int64_t i = 0; i < x.count(); ++i) {
        EXPECT_EQ(turned.data()[i].bits, static_cast<T>(expected.data()[i]).bits);
      }
    }
  }
}

// A transposition of channels and positions, and every other channel: no channels side by side.
TYPED_TEST(RotateTypes, TurnsChannelsThatLieApart) {
  using T = TypeParam;
  std::mt19937 random(8);
  for (const RotaryLayout layout : {RotaryLayout::interleaved, RotaryLayout::half_split}) {
    RotationTable<T> table = rotary<T>({.head_dim = 6, .layout = layout}, 4);
    table.first_channel = 1;
    Tensor<T> columns({2, 3, 8, 4});
    for (T& value : columns.span())
      value = static_cast<T>(std::uniform_real_distribution<>(-2, 2)(random));
    const View<const T> x = std::as_const(columns).view().transpose(2, 3);
    Tensor<T> expected(x.shape());
    const Tensor<T> dense = copy_of(x);
    rotate<T>(dense, expected, table);
    Tensor<T> wide({2, 3, 4, 16});
    const View<T> out(wide.data(), x.shape(), std::array<std::int64_t, 4>{192, 64, 16, 2});
    rotate<T>(x, out, table);
    rotate<T>(x, columns.view().transpose(2, 3), table);
    for (std::int64_t i = 0; i < dense.count(); ++i) {
      const auto value = static_cast<double>(expected.data()[i]);
      EXPECT_EQ(static_cast<double>(wide.data()[2 * i]), value);
      EXPECT_EQ(static_cast<double>(wide.data()[2 * i + 1]), 0);
      EXPECT_EQ(static_cast<double>(x(i / 96, i / 32 % 3, i / 8 % 4, i % 8)), value);
    }
  }
}

// <rotate(x), g> = <x, rotate_back(g)>: the gradient. Unit vectors for x and g compare every entry
// of the two matrices, which have the same products and no sums.
TYPED_TEST(RotateTypes, TurningBackIsTheTransposeOfTurning) {
  using T = TypeParam;
  for (const RotaryLayout layout : {RotaryLayout::interleaved, RotaryLayout::half_split}) {
    const RotationTable<T> table = rotary<T>({.head_dim = 6, .rotary_dim = 4, .layout = layout}, 3);
    Tensor<T> unit({6, 1, 3, 6});  // one unit vector per batch
    for (std::int64_t c = 0; c < 6; ++c) {
      for (std::int64_t n = 0; n < 3; ++n) unit(c, 0, n, c) = static_cast<T>(1.0);
    }
    Tensor<T> turned(unit.shape());
    Tensor<T> back(unit.shape());
    rotate<T>(unit, turned, table);
    rotate_back<T>(unit, back, table);
    for (std::int64_t n = 0; n < 3; ++n) {
      for (std::int64_t a = 0; a < 6; ++a) {
        for (std::int64_t b = 0; b < 6; ++b) {
          EXPECT_EQ(static_cast<double>(turned(a, 0, n, b)), static_cast<double>(back(b, 0, n, a)));
        }
      }
    }
  }
}

TEST(Rotary, NamesTheArgumentAtFault) {
  expect_error("rotary.head_dim", [] { rotary<float>({.head_dim = 7}, 1); });
  expect_error("rotary.head_dim", [] { rotary<float>({.head_dim = 0}, 1); });
  expect_error("rotary.rotary_dim", [] { rotary<float>({.head_dim = 8, .rotary_dim = 10}, 1); });
  expect_error("rotary.rotary_dim", [] { rotary<float>({.head_dim = 8, .rotary_dim = 3}, 1); });
  expect_error("rotary.rotary_dim", [] { rotary<float>({.head_dim = 8, .rotary_dim = -2}, 1); });
  expect_error("rotary.base", [] { rotary<float>({.head_dim = 8, .base = 0}, 1); });
  expect_error("rotary.length", [] { rotary<float>({.head_dim = 8}, -1); });
  expect_error("rotary.threads", [] { rotary<float>({.head_dim = 8, .threads = -1}, 1); });
  expect_error("rotary.threads", [] { rotary<float>({.head_dim = 8, .threads = 5000}, 0); });
  expect_error("rotary.head_dim", [] { rotary<float>({.head_dim = std::int64_t{1} << 40}, 1); });
  expect_error("rotary.layout",
               [] { rotary<float>({.head_dim = 8, .layout = static_cast<RotaryLayout>(7)}, 1); });
  expect_error("rotary.precision",
               [] { rotary<float>({.head_dim = 8, .precision = static_cast<Precision>(7)}, 1); });
  const RotationTable<float> table = rotary<float>({.head_dim = 8}, 3);
  Tensor<float> flat({3, 8});
  Tensor<float> short_x({1, 1, 2, 8});
  Tensor<float> narrow({1, 1, 3, 6});
  Tensor<float> x({1, 1, 3, 8});
  expect_error("rotate.x", [&] { rotate<float>(flat, flat, table); });
  expect_error("rotate.out", [&] { rotate<float>(x, short_x, table); });
  expect_error("rotate.table", [&] { rotate<float>(short_x, short_x, table); });
  expect_error("rotate.table", [&] { rotate<float>(narrow, narrow, table); });
  expect_error("rotate.threads", [&] { rotate<float>(x, x, table, -1); });
  expect_error("rotate.threads", [&] { rotate<float>(x, x, table, kMaxThreads + 1); });
  const View<float> nowhere(nullptr, x.shape());
  expect_error("rotate.x", [&] { rotate<float>(nowhere, x, table); });
  expect_error("rotate.out", [&] { rotate<float>(x, nowhere, table); });
  const auto strided = [&](std::int64_t row) {
    return View<float>(x.data(), x.shape(), std::array<std::int64_t, 4>{24, 24, row, 1});
  };
  const Tensor<float> input({1, 1, 3, 8});
  expect_error("rotate.out", [&] { rotate<float>(input, strided(0), table); });
  expect_error("rotate.out", [&] { rotate<float>(input, strided(7), table); });
  EXPECT_NO_THROW(rotate<float>(input, strided(8), table));
  Tensor<float> longer({1, 1, 4, 8});
  expect_error("rotate.out", [&] {
    rotate<float>(longer.view().narrow(2, 0, 3), longer.view().narrow(2, 1, 3), table);
  });
  // Rows of several heads, one further on or in the other order.
  Tensor<float> heads({1, 2, 4, 8});
  expect_error("rotate.out", [&] {
    rotate<float>(heads.view().narrow(2, 0, 3), heads.view().narrow(2, 1, 3), table);
  });
  expect_error("rotate.out", [&] {
    const std::array<std::int64_t, 4> backwards{64, 32, -8, 1};
    rotate<float>(heads.view().narrow(2, 0, 3),
                  View<float>(heads.data() + 16, {1, 2, 3, 8}, backwards), table);
  });
  EXPECT_NO_THROW(rotate<float>(heads.view().narrow(2, 0, 3), heads.view().narrow(2, 0, 3), table));
  Tensor<float> halves({1, 2, 3, 16});
  EXPECT_NO_THROW(
      rotate<float>(halves.view().narrow(3, 0, 8), halves.view().narrow(3, 8, 8), table));
  RotationTable<float> unnamed = rotary<float>({.head_dim = 8}, 3);
  unnamed.layout = static_cast<RotaryLayout>(7);
  expect_error("rotate.table.layout", [&] { rotate<float>(x, x, unnamed); });
  RotationTable<float> other{Tensor<float>({3, 2}), Tensor<float>({3, 2})};
  expect_error("rotary_into.table", [&] { rotary_into(other, {.head_dim = 8}); });
  expect_error("rotary.rotary_dim", [&] { rotary_into(other, {.head_dim = 8, .rotary_dim = 5}); });
}

// Large enough for several tasks, for streaming, and for the last of each to be smaller.
TEST(Rotary, TurnsTheSameOnAnyNumberOfThreads) {
  const RotationTable<float> table = rotary<float>({.head_dim = 64}, 1500);
  Tensor<float> x({2, 23, 1500, 64});
  for (std::int64_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<float>(i % 7) - 3;
  Tensor<float> alone(x.shape());
  rotate<float>(x, alone, table, 1);
  Tensor<float> together(x.shape());
  for (const int threads : {0, 3}) {
    std::fill(together.span().begin(), together.span().end(), -1.0F);
    rotate<float>(x, together, table, threads);
    EXPECT_TRUE(std::equal(alone.span().begin(), alone.span().end(), together.data())) << threads;
  }
  // Parts alone, whose results are not streamed.
  for (const std::int64_t head : {0, 22}) {
    Tensor<float> part({1, 1, 1500, 64});
    rotate<float>(x.view().narrow(0, 1, 1).narrow(1, head, 1), part, table);
    EXPECT_TRUE(std::equal(part.span().begin(), part.span().end(), &alone(1, head, 0, 0)));
  }
  rotate<float>(x, x, table, 2);
  EXPECT_TRUE(std::equal(alone.span().begin(), alone.span().end(), x.data()));
}

TEST(Rotary, TurnsNothing) {
  const RotationTable<float> table = rotary<float>({.head_dim = 8}, 0);
  Tensor<float> x({2, 3, 0, 8});
  EXPECT_NO_THROW(rotate<float>(x, x, table));
  RotationTable<float> none{Tensor<float>({2, 0}), Tensor<float>({2, 0})};
  Tensor<float> y({1, 1, 2, 3});
  Tensor<float> copy({1, 1, 2, 3});
  y(0, 0, 1, 2) = 5;
  rotate<float>(y, copy, none);
  EXPECT_EQ(copy(0, 0, 1, 2), 5);
}

TEST(Rotary, LayoutsHaveNames) {
  EXPECT_EQ(name_of(static_cast<RotaryLayout>(7)), "unknown");
  EXPECT_EQ(name_of(RotaryLayout::half_split), "half_split");
  EXPECT_EQ(parse_name<RotaryLayout>("interleaved", "x"), RotaryLayout::interleaved);
}

}  // namespace
}  // namespace sextant::rotary_test
