// ALiBi's slopes: the paper's numbers, and its rule for head counts that are no powers of two.
#include "sextant/schemes/alibi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using List = std::vector<double>;

TEST(AlibiSlopes, OfPowersOfTwoAreAGeometricSeriesFromItsOwnRatio) {
  // Section 3 of the paper: 8 heads have 1/2, 1/4, ..., 1/256.
  EXPECT_EQ(alibi_slopes(8),
            (List{0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8}));
  EXPECT_EQ(alibi_slopes(1), (List{0x1p-8}));
  EXPECT_EQ(alibi_slopes(2), (List{0x1p-4, 0x1p-8}));
  EXPECT_EQ(alibi_slopes(4), (List{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8}));
  // 16 heads: interpolated geometrically, 2^-0.5, 2^-1, 2^-1.5, ...
  const List sixteen = alibi_slopes(16);
  ASSERT_EQ(sixteen.size(), 16U);
  for (std::size_t h = 0; h < 16; ++h) {
    // sqrt is correctly rounded; exp2 may be off by one unit more.
    const double expected = std::sqrt(std::ldexp(1, -static_cast<int>(h + 1)));
    EXPECT_NEAR(sixteen[h], expected, expected * 0x1p-51) << h;
  }
}

TEST(AlibiSlopes, OfOtherCountsContinueWithEverySecondOneOfTheDoubledSeries) {
  EXPECT_EQ(alibi_slopes(3), (List{0x1p-4, 0x1p-8, 0x1p-2}));
  EXPECT_EQ(alibi_slopes(5), (List{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1}));
  EXPECT_EQ(alibi_slopes(6), (List{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3}));
  EXPECT_EQ(alibi_slopes(7), (List{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3, 0x1p-5}));
  const List twelve = alibi_slopes(12), eight = alibi_slopes(8), sixteen = alibi_slopes(16);
  ASSERT_EQ(twelve.size(), 12U);
  for (std::size_t h = 0; h < 8; ++h) EXPECT_EQ(twelve[h], eight[h]) << h;
  for (std::size_t h = 8; h < 12; ++h) EXPECT_EQ(twelve[h], sixteen[2 * (h - 8)]) << h;
}

TEST(AlibiSlopes, AreDistinctAndBelowOneForAnyCount) {
  for (std::int64_t heads = 1; heads <= 130; ++heads) {
    List slopes = alibi_slopes(heads);
    ASSERT_EQ(static_cast<std::int64_t>(slopes.size()), heads);
    std::sort(slopes.begin(), slopes.end());
    EXPECT_EQ(std::adjacent_find(slopes.begin(), slopes.end()), slopes.end()) << heads;
    EXPECT_EQ(slopes.front(), 0x1p-8) << heads;
    EXPECT_LT(slopes.back(), 1) << heads;
  }
}

TEST(AlibiSlopes, CountsThatAreNoneAreRefused) {
  for (const std::int64_t wrong :
       {std::int64_t{0}, std::int64_t{-3}, (std::int64_t{1} << 20) + 1}) {
    try {
      alibi_slopes(wrong);
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "[alibi_slopes.heads] must be in 1 .. 2^20, got " + std::to_string(wrong));
    }
  }
  EXPECT_EQ(alibi_slopes(1 << 20).size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace sextant
