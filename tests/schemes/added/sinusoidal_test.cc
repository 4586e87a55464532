// The laws of the family: the same bits however a table is asked for, the edges, and the errors.
#include "sextant/schemes/added/sinusoidal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sextant/core/error.h"
#include "support/error_of.h"

namespace sextant::sinusoidal_test {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 31;

template <Floating T>
bool same_bits(const Tensor<T>& a, std::int64_t a_row, const Tensor<T>& b) {
  return std::memcmp(&a(a_row, 0), b.data(), static_cast<std::size_t>(b.count()) * sizeof(T)) == 0;
}

template <class T>
class SinusoidalBits : public ::testing::Test {};
using AllTypes = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(SinusoidalBits, AllTypes);

TYPED_TEST(SinusoidalBits, DoNotDependOnThreadsSplitsOrHowPositionsAreGiven) {
  Sinusoidal options{.length = 2100, .width = 48, .first = -700};
  for (const std::int64_t first : {std::int64_t{-700}, std::int64_t{261000}, kFar - 1000}) {
    options.first = first;
    options.length = 2100;
    options.threads = 1;
    const Tensor<TypeParam> whole = sinusoidal<TypeParam>(options);
    for (const int threads : {2, 5}) {
      options.threads = threads;
      EXPECT_TRUE(same_bits(whole, 0, sinusoidal<TypeParam>(options)));
    }
    std::int64_t row = 0;
    for (const std::int64_t length : {1, 63, 64, 65, 256, 700, 951}) {
      Sinusoidal part = options;
      part.first = first + row;
      part.length = length;
      EXPECT_TRUE(same_bits(whole, row, sinusoidal<TypeParam>(part))) << length;
      row += length;
    }
    EXPECT_EQ(row, options.length);
    std::vector<std::int64_t> shuffled(static_cast<std::size_t>(options.length));
    for (std::size_t i = 0; i < shuffled.size(); ++i)
      shuffled[i] = first + static_cast<std::int64_t>(i);
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(3));
    const Tensor<TypeParam> picked = sinusoidal<TypeParam>(options, shuffled);
    for (std::size_t i = 0; i < shuffled.size(); ++i) {
      ASSERT_EQ(std::memcmp(&picked(static_cast<std::int64_t>(i), 0),
                            &whole(shuffled[i] - first, 0), 48 * sizeof(TypeParam)),
                0);
    }
  }
}

TEST(Sinusoidal, WritesIntoRowsAtAnyStride) {
  const Sinusoidal options{.length = 300, .width = 7, .first = 5};
  const Tensor<float> plain = sinusoidal<float>(options);
  Tensor<float> buffer({300, 10});
  sinusoidal_into(buffer.view().narrow(1, 2, 7), options);
  for (std::int64_t i = 0; i < 300; ++i) {
    for (std::int64_t c = 0; c < 10; ++c) {
      EXPECT_EQ(buffer(i, c), c < 2 || c == 9 ? 0.0F : plain(i, c - 2));
    }
  }
}

std::vector<double> row_at(Sinusoidal options, std::int64_t position) {
  options.length = 1;
  options.first = position;
  const Tensor<double> table = sinusoidal<double>(options);
  return {table.span().begin(), table.span().end()};
}

TEST(Sinusoidal, MakesEmptyAndNarrowTables) {
  EXPECT_EQ(sinusoidal<float>({.length = 0, .width = 8}).shape(), (Shape{0, 8}));
  EXPECT_EQ(sinusoidal<float>({.width = 8}, std::span<const std::int64_t>()).shape(),
            (Shape{0, 8}));
  using ::testing::DoubleEq;
  using ::testing::ElementsAre;
  EXPECT_THAT(row_at({.width = 1}, 1), ElementsAre(DoubleEq(std::sin(1.0))));
  EXPECT_THAT(row_at({.width = 1, .odd_width = OddWidth::zero_column}, 1), ElementsAre(0));
  EXPECT_THAT(row_at({.width = 1, .odd_width = OddWidth::round_up}, 1),
              ElementsAre(DoubleEq(std::sin(1.0))));
  EXPECT_THAT(
      row_at({.width = 1, .layout = SinusoidalLayout::cos_first, .odd_width = OddWidth::round_up},
             1),
      ElementsAre(DoubleEq(std::cos(1.0))));
  EXPECT_THAT(row_at({.width = 2}, 1),
              ElementsAre(DoubleEq(std::sin(1.0)), DoubleEq(std::cos(1.0))));
  EXPECT_THAT(row_at({.width = 9, .scale = 0}, 7), ::testing::Each(0));
}

TEST(Sinusoidal, PositionZeroIsExactlyZeroAndOne) {
  const std::vector<double> row = row_at({.width = 100}, 0);
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], i % 2 == 0 ? 0 : 1);
}

TEST(Sinusoidal, NegativePositionsMirrorTheSinesOnly) {
  const Tensor<float> table = sinusoidal<float>({.length = 2001, .width = 10, .first = -1000});
  for (std::int64_t p = 0; p <= 1000; ++p) {
    for (std::int64_t c = 0; c < 10; ++c) {
      // Both are within 0.5001 ulp of the same truth, so they may differ by the last place.
      const float a = table(1000 + p, c);
      const float b = c % 2 == 0 ? -table(1000 - p, c) : table(1000 - p, c);
      EXPECT_NEAR(a, b, std::fabs(a) * 0x1p-23F);
    }
  }
}

TEST(Sinusoidal, SaysWhatEachColumnShows) {
  const auto shown = [](const Sinusoidal& options, std::int64_t column) {
    const SinusoidalColumn c = sinusoidal_column(options, column);
    return std::pair(c.pair, c.cosine);
  };
  EXPECT_EQ(shown({.width = 6}, 3), std::pair(std::int64_t{1}, true));
  EXPECT_EQ(shown({.width = 6, .layout = SinusoidalLayout::half_split}, 3),
            std::pair(std::int64_t{0}, true));
  EXPECT_EQ(shown({.width = 7, .layout = SinusoidalLayout::half_split}, 3),
            std::pair(std::int64_t{3}, false));
  EXPECT_EQ(shown({.width = 7, .layout = SinusoidalLayout::cos_first}, 3),
            std::pair(std::int64_t{0}, false));
  EXPECT_EQ(shown({.width = 7, .odd_width = OddWidth::zero_column}, 6),
            std::pair(std::int64_t{-1}, false));
}

TEST(Sinusoidal, FrequenciesAreTheNearestDoubles) {
  const Tensor<double> f = sinusoidal_frequencies({.width = 8});
  EXPECT_THAT(std::vector<double>(f.span().begin(), f.span().end()),
              ::testing::ElementsAre(1, 0.1, 0.01, 0.001));
  const Tensor<double> last =
      sinusoidal_frequencies({.width = 10, .ladder = Ladder::d_half_minus_1});
  EXPECT_EQ(last(4), 1e-4);
  const Tensor<double> unpaired = sinusoidal_frequencies(
      {.width = 4, .base = 16, .exponent = Exponent::doubled_unpaired}, true);
  EXPECT_THAT(std::vector<double>(unpaired.span().begin(), unpaired.span().end()),
              ::testing::ElementsAre(0.25, 0x1p-6));
}

TEST(Sinusoidal, NamesTheArgumentAtFault) {
  const auto make = [](const Sinusoidal& options) { return [=] { sinusoidal<float>(options); }; };
  const double nan = std::nan("");
  expect_error("sinusoidal.width", make({.length = 1, .width = 0}));
  expect_error("sinusoidal.width",
               make({.length = 1, .width = 2, .ladder = Ladder::d_half_minus_1}));
  expect_error("sinusoidal.length", make({.length = -1, .width = 2}));
  expect_error("sinusoidal.length", make({.length = std::int64_t{1} << 52, .width = 1 << 20}));
  expect_error("sinusoidal.length",
               make({.length = 3, .width = 2, .first = (std::int64_t{1} << 53) - 1}));
  expect_error("sinusoidal.first",
               make({.length = 1, .width = 2, .first = (std::int64_t{1} << 53) + 1}));
  for (const double base : {0.0, -1.0, nan, HUGE_VAL, 1e-300}) {
    expect_error("sinusoidal.base", make({.length = 1, .width = 8, .base = base}));
  }
  expect_error("sinusoidal.scale", make({.length = 1, .width = 2, .scale = nan}));
  expect_error("sinusoidal.threads", make({.length = 1, .width = 2, .threads = -1}));
  const std::int64_t far[] = {std::numeric_limits<std::int64_t>::min()};
  const double no_number[] = {nan};
  expect_error("sinusoidal.positions",
               [&] { sinusoidal<float>({.width = 2}, std::span<const std::int64_t>(far)); });
  expect_error("sinusoidal.positions",
               [&] { sinusoidal<float>({.width = 2}, std::span<const double>(no_number)); });
  Tensor<float> small({2, 3});
  expect_error("sinusoidal_into.out",
               [&] { sinusoidal_into(small.view(), {.length = 3, .width = 2}); });
  expect_error("sinusoidal_into.out",
               [&] { sinusoidal_into(small.view().transpose(0, 1), {.length = 3, .width = 2}); });
  expect_error("sinusoidal_column.column", [] { sinusoidal_column({.width = 2}, 2); });
}

TEST(SinusoidalNames, GoBothWays) {
  for (const auto layout :
       {SinusoidalLayout::interleaved, SinusoidalLayout::half_split, SinusoidalLayout::cos_first}) {
    EXPECT_EQ(parse_name<SinusoidalLayout>(name_of(layout), "layout"), layout);
  }
  EXPECT_EQ(name_of(Ladder::d_half_minus_1), "d/2-1");
  EXPECT_EQ(parse_name<Exponent>("doubled_unpaired", "exponent"), Exponent::doubled_unpaired);
  EXPECT_EQ(parse_name<OddWidth>("zero_column", "odd_width"), OddWidth::zero_column);
  EXPECT_EQ(parse_name<Precision>("framework", "precision"), Precision::framework);
  EXPECT_EQ(error_of([&] { parse_name<Ladder>("d/2", "encode.ladder"); }),
            "[encode.ladder] must be one of d, d/2-1, got 'd/2'; did you mean 'd/2-1'?");
}

}  // namespace
}  // namespace sextant::sinusoidal_test
