// ALiBi: the paper's slopes, its rule for head counts that are no powers of two, and the bias.
#include "sextant/schemes/distance/alibi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "schemes/distance/distance_checks.h"
#include "sextant/core/error.h"

namespace sextant::alibi_test {
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
                "[alibi_slopes.heads] must be 1 .. 2^20, got " + std::to_string(wrong));
    }
  }
  EXPECT_EQ(alibi_slopes(1 << 20).size(), std::size_t{1} << 20);
}

TEST(AlibiSlopes, TakeAnotherGreatestExponent) {
  // llm-foundry's alibi_bias_max: 2^(-max_bias h / heads).
  EXPECT_EQ(alibi_slopes(4, 4), (List{0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4}));
  EXPECT_EQ(alibi_slopes(3, 16), (List{0x1p-8, 0x1p-16, 0x1p-4}));
  EXPECT_EQ(alibi_slopes(2, 0), (List{1, 1}));
}

// Falcon with 64 channels adds it before the scores are divided by 8.
TEST(Alibi, MultipliesItsSlopes) {
  const DistanceBias usual = alibi({.heads = 6}, 5),
                     divided = alibi({.heads = 6, .factor = 0.125}, 5);
  for (std::int64_t head = 0; head < 6; ++head) {
    for (std::int64_t i = 0; i < 9; ++i) {
      EXPECT_EQ(divided.values(head, i), usual.values(head, i) / 8);
    }
  }
  EXPECT_EQ(alibi({.heads = 2, .factor = 3}).slopes, (List{3 * 0x1p-4, 3 * 0x1p-8}));
}

TEST(Alibi, FallsByTheSlopePerStepOnBothSides) {
  const testing::Asked asked(9, 3);
  const List slopes{0x1p-4, 0x1p-8, 0x1p-2};
  testing::expect_formula("alibi", asked.request,
                          [&](const SchemeWeights&, std::int64_t head, std::int64_t distance) {
                            return -slopes[static_cast<std::size_t>(head)] *
                                   static_cast<double>(distance < 0 ? -distance : distance);
                          });
}

TEST(Alibi, HidesTheFutureWhenAsked) {
  const DistanceBias bias = alibi({.heads = 2, .direction = BiasDirection::causal}, 3);
  ASSERT_EQ(bias.values.shape(), Shape({2, 5}));
  EXPECT_EQ(bias.origin, 2);
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(std::vector<float>(bias.values.span().begin(), bias.values.span().end()),
              ::testing::ElementsAre(-0.125F, -0.0625F, 0, kHidden, kHidden,  //
                                     -0x1p-7F, -0x1p-8F, 0, kHidden, kHidden));
}

// Without a length: what the table holds, at any distance.
TEST(Alibi, IsSlopesAloneWithoutALength) {
  const DistanceBias bias = alibi({.heads = 3, .max_bias = 4});
  EXPECT_FALSE(bias.has_table());
  EXPECT_EQ(bias.slopes, alibi_slopes(3, 4));
  EXPECT_TRUE(alibi({.heads = 3}, 2).has_table());
  EXPECT_TRUE(alibi({.heads = 3}, 2).slopes.empty());
  EXPECT_EQ(error_of([] { alibi({.direction = BiasDirection::causal}); }),
            "[alibi.direction] must be symmetric where no length is given, got causal");
  EXPECT_THAT(error_of([] { alibi({.max_bias = -1}); }), ::testing::HasSubstr("[alibi.max_bias]"));
  EXPECT_THAT(error_of([] { alibi({.heads = 0}); }), ::testing::HasSubstr("[alibi.heads]"));
}

// Position 0 is no evidence: ids that start elsewhere, go back, or are negative.
TEST(Alibi, KnowsIdsByTheirDistancesOnly) {
  const testing::Asked low(6, 2);
  const testing::Asked high({1000005, 1000003, 1000000, 1000001}, 2);
  const testing::Asked negative({-5, 0}, 2);
  const DistanceBias a = testing::distance_bias_of("alibi", low.request);
  const DistanceBias b = testing::distance_bias_of("alibi", high.request);
  const DistanceBias c = testing::distance_bias_of("alibi", negative.request);
  for (const DistanceBias* other : {&b, &c}) {
    ASSERT_EQ(other->values.shape(), a.values.shape());
    EXPECT_EQ(other->origin, a.origin);
    EXPECT_TRUE(std::equal(a.values.span().begin(), a.values.span().end(), other->values.data()));
  }
}

TEST(Alibi, StaysExactWhereHalfPrecisionWouldNot) {
  // Differences of neighbours a million tokens away: the slope itself.
  const DistanceBias bias = alibi({.heads = 8}, 1000001);
  EXPECT_EQ(bias.values(0, 0) - bias.values(0, 1), -0.5F);
  EXPECT_EQ(bias.values(7, 0) - bias.values(7, 1), -0x1p-8F);
}

TEST(Alibi, OfNoPositionsHasTheDistanceZero) {
  const testing::Asked asked(0, 2);
  const DistanceBias bias = testing::distance_bias_of("alibi", asked.request);
  EXPECT_EQ(bias.values.shape(), Shape({2, 1}));
  EXPECT_EQ(bias.values(1, 0), 0);
}

TEST(Alibi, NamesTheArgumentAtFault) {
  using ::testing::HasSubstr;
  EXPECT_EQ(testing::refusal("alibi", {{"direction", "left"}}),
            "[alibi.direction] must be one of symmetric, causal, got 'left'");
  EXPECT_EQ(testing::refusal("alibi", {{"max_bias", "-1"}}),
            "[alibi.max_bias] must be 0 .. 1000, got -1");
  EXPECT_THAT(testing::refusal("alibi", {{"max_bias", "nan"}}), HasSubstr("[alibi.max_bias]"));
  EXPECT_EQ(testing::refusal("alibi", {}, 0), "[alibi.heads] must be 1 .. 2^20, got 0");
  EXPECT_THAT(error_of([] { alibi({}, 0); }), HasSubstr("[alibi.length]"));
  EXPECT_THAT(error_of([] { alibi({}, (1 << 28) + 1); }), HasSubstr("[alibi.length]"));
  EXPECT_THAT(error_of([] { alibi({.heads = 1 << 20}, 1 << 20); }), HasSubstr("at most 2^31"));
  EXPECT_THAT(error_of([] { alibi({.direction = static_cast<BiasDirection>(7)}, 1); }),
              HasSubstr("[alibi.direction]"));
  EXPECT_THAT(error_of([] { alibi_slopes(1, 1001); }), HasSubstr("[alibi_slopes.max_bias]"));
  const testing::Asked far(
      {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}, 2);
  EXPECT_THAT(error_of([&] { find_scheme("alibi").make(far.request); }),
              HasSubstr("[alibi.positions] must lie less than 2^28 apart"));
  testing::Asked pairs(4, 2);
  pairs.request.axes = 2;
  EXPECT_THAT(error_of([&] { find_scheme("alibi").make(pairs.request); }),
              HasSubstr("[alibi.positions] must have one id per token"));
}

TEST(Alibi, DirectionsHaveNames) {
  EXPECT_EQ(name_of(BiasDirection::causal), "causal");
  EXPECT_EQ(name_of(static_cast<BiasDirection>(7)), "unknown");
  EXPECT_EQ(parse_name<BiasDirection>("symmetric", "x"), BiasDirection::symmetric);
}

}  // namespace
}  // namespace sextant::alibi_test
