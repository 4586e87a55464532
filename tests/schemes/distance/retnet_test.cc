// RetNet's decay: the paper's factors, the weights of a softmax, and the forms of other code.
#include "sextant/schemes/distance/retnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "schemes/distance/distance_checks.h"
#include "sextant/schemes/distance/alibi.h"

namespace sextant::retnet_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// gamma = 1 - 2^(-5 - arange(0, h)), exact in float64.
TEST(Retnet, HasThePapersDecays) {
  EXPECT_THAT(retnet_decays({.heads = 4}), ElementsAre(0.96875, 0.984375, 0.9921875, 0.99609375));
  // Fan et al. (RMT): 1 - 2^(-initial - range * arange(h) / h), initial 2 and range 4 of 4 heads.
  EXPECT_THAT(retnet_decays({.heads = 4, .exponent = 2, .heads_range = 4}),
              ElementsAre(0.75, 0.875, 0.9375, 0.96875));
  EXPECT_THAT(retnet_decays({.heads = 2, .exponent = 1, .heads_range = 0}), ElementsAre(0.5, 0.5));
  EXPECT_EQ(retnet_decays({.exponent = 1000})[0], 1);
}

// exp(bias) is gamma multiplied by itself, distance times: the law of the paper's matrix D.
TEST(Retnet, IsAFactorPerPositionOfDistance) {
  const std::vector<double> gamma = retnet_decays({.heads = 3});
  const DistanceBias bias = retnet({.heads = 3}, 50);
  ASSERT_EQ(bias.origin, 49);
  for (std::int64_t head = 0; head < 3; ++head) {
    double power = 1;
    for (std::int64_t distance = 0; distance < 50; ++distance) {
      // float32's rounding of the bias, below 2; and 50 products of float64.
      EXPECT_NEAR(std::exp(static_cast<double>(bias.values(head, 49 - distance))), power, 0x1p-23);
      power *= gamma[static_cast<std::size_t>(head)];
    }
  }
}

TEST(Retnet, IsTheLogarithmOfTheDecayTimesTheDistance) {
  const auto plain = [](double exponent, double range, bool causal, double heads) {
    return [=](const SchemeWeights&, std::int64_t head, std::int64_t distance) {
      if (causal && distance > 0) return testing::kHidden;
      const long double x = std::pow(
          2.0L, -(static_cast<long double>(exponent) + range * static_cast<double>(head) / heads));
      long double sum = 0;  // ln(1 - x) as its series
      for (int n = 60; n >= 1; --n) sum -= std::pow(x, n) / n;
      return static_cast<double>(sum * static_cast<long double>(std::abs(distance)));
    };
  };
  const testing::Asked paper(40, 4);
  testing::expect_formula("retnet", paper.request, plain(5, 4, true, 4));
  const testing::Asked other(30, 3, {{"exponent", "2.5"}, {"heads_range", "6"}, {"causal", "no"}});
  testing::expect_formula("retnet", other.request, plain(2.5, 6, false, 3));
  // Beyond 2^-53 the factor is 1, its logarithm is not 0.
  const testing::Asked slow(8, 1, {{"exponent", "80"}});
  testing::expect_formula("retnet", slow.request, plain(80, 1, true, 1));
}

// One head of ALiBi with slope 2^-max_bias is nearly one of RetNet: -ln(1 - x) = x + x^2 / 2 + ...
TEST(Retnet, IsNearlyAlibiWithSlopeOfOneMinusGamma) {
  const DistanceBias ours = retnet({.exponent = 12, .heads_range = 0}, 100);
  const DistanceBias alibis = alibi({.direction = BiasDirection::causal, .max_bias = 12}, 100);
  for (std::int64_t column = 0; column < 100; ++column) {
    EXPECT_NEAR(ours.values(0, column), alibis.values(0, column), 100 * 0x1p-24);
  }
  EXPECT_EQ(ours.values(0, 100), alibis.values(0, 100));
}

TEST(Retnet, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("retnet", {{"exponent", "0.5"}}),
            "[retnet.exponent] must be 1 .. 1000, got 0.5");
  EXPECT_THAT(testing::refusal("retnet", {{"exponent", "nan"}}), HasSubstr("[retnet.exponent]"));
  EXPECT_THAT(testing::refusal("retnet", {{"heads_range", "-1"}}),
              HasSubstr("[retnet.heads_range]"));
  EXPECT_THAT(testing::refusal("retnet", {{"causal", "perhaps"}}), HasSubstr("[retnet.causal]"));
  EXPECT_THAT(testing::refusal("retnet", {}, 0), HasSubstr("[retnet.heads]"));
  EXPECT_THAT(error_of([] { retnet({}, 0); }), HasSubstr("[retnet.length]"));
  EXPECT_THAT(error_of([] { retnet_decays({.heads = 0}); }), HasSubstr("[retnet.heads]"));
}

}  // namespace
}  // namespace sextant::retnet_test
