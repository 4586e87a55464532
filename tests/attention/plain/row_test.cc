// Infinities, NaN and empty rows: what one row makes of them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "attention/strided.h"
#include "sextant/attention/attention.h"

namespace sextant {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Probabilities of one query with the scores given (head_dim 1, q = 1, scale 1).
std::vector<double> probabilities(std::vector<double> scores,
                                  AttentionOptions<double> options = {}) {
  Tensor<double> q(Shape{1, 1, 1, 1});
  q(0, 0, 0, 0) = 1;
  const View<const double> k(scores.data(),
                             Shape{1, 1, static_cast<std::int64_t>(scores.size()), 1});
  const auto weights = attention_weights<double>(q, k, options);
  return {weights.span().begin(), weights.span().end()};
}

TEST(AttentionRow, HugeScoresDoNotOverflow) {
  EXPECT_EQ(probabilities({1e4, -1e4, 1e4}), (std::vector<double>{0.5, 0, 0.5}));
  EXPECT_EQ(probabilities({-1e4, -1e4}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(probabilities({1.7e308, -1.7e308}), (std::vector<double>{1, 0}));
  // exp(-1) / (1 + exp(-1)); 1e4 - 9999 is exact.
  EXPECT_NEAR(probabilities({1e4, 9999})[1], 1 / (1 + std::exp(1)), 4 * 0x1p-53);
}

TEST(AttentionRow, ScoresOfInfinityShareTheWeight) {
  EXPECT_EQ(probabilities({kInf, 3, kInf, -kInf}), (std::vector<double>{0.5, 0, 0.5, 0}));
  EXPECT_EQ(probabilities({-kInf, 2}), (std::vector<double>{0, 1}));
}

TEST(AttentionRow, OnlyMinusInfinityIsNothingToAttendTo) {
  EXPECT_EQ(probabilities({-kInf, -kInf}), (std::vector<double>{0, 0}));
}

TEST(AttentionRow, AVisibleNanScoreMakesTheRowNanAndAHiddenOneDoesNot) {
  for (const double p : probabilities({1, kNan, 2})) EXPECT_TRUE(std::isnan(p));
  Tensor<bool> mask(Shape{4});
  mask(0) = mask(2) = true;
  AttentionOptions<double> options;
  options.mask = mask;
  EXPECT_EQ(probabilities({1, kNan, 1, kInf}, options), (std::vector<double>{0.5, 0, 0.5, 0}));
  mask(1) = true;
  const auto weights = probabilities({1, kNan, 1, kInf}, options);
  EXPECT_TRUE(std::isnan(weights[0]));
  EXPECT_EQ(weights[3], 0);  // hidden
}

TEST(AttentionRow, HiddenByAMaskWinsOverAnInfiniteBias) {
  Tensor<double> mask(Shape{3});
  mask(0) = kInf;
  mask(1) = -kInf;
  AttentionOptions<double> options;
  options.mask = mask;
  EXPECT_EQ(probabilities({0, kInf, 9}, options), (std::vector<double>{1, 0, 0}));
  DistanceBias bias{Tensor<float>(Shape{1, 3}), 0};
  bias.values(0, 0) = -std::numeric_limits<float>::infinity();
  options.bias = &bias;
  options.causal = Causal::none;
  EXPECT_EQ(probabilities({0, kInf, 9}, options), (std::vector<double>{0, 0, 1}));
}

TEST(AttentionRow, SoftcapBoundsScoresAndComesBeforeMasks) {
  AttentionOptions<double> options;
  options.softcap = 0.5;
  Tensor<double> mask(Shape{3});
  mask(1) = -kInf;
  mask(2) = 700;
  options.mask = mask;
  const auto p = probabilities({1e300, 1e300, -1e300}, options);
  // Capped scores are 0.5 and -0.5; 700 added afterwards is not capped.
  EXPECT_EQ(p[1], 0);
  EXPECT_NEAR(p[0] / std::exp(1 - 700.0), 1, 1e-12);  // 700 has an ulp of 1.1e-13
  Tensor<double> q(Shape{1, 1, 1, 1}), k(Shape{1, 1, 3, 1});
  q(0, 0, 0, 0) = 1;
  const auto capped = attention_weights(q, k, options, {.stage = Stage::capped});
  for (const double score : capped.span()) EXPECT_EQ(score, 0);
}

TEST(AttentionRow, AVisibleNanValueStaysInItsChannelAndOneOfWeightZeroIsNotRead) {
  Tensor<double> q(Shape{1, 1, 1, 1}), k(Shape{1, 1, 3, 1}), v(Shape{1, 1, 3, 2}),
      out(Shape{1, 1, 1, 2});
  q(0, 0, 0, 0) = 1;
  v(0, 0, 1, 0) = kNan;
  v(0, 0, 2, 0) = v(0, 0, 2, 1) = 3;
  attention(q, k, v, out);
  EXPECT_TRUE(std::isnan(out(0, 0, 0, 0)));
  EXPECT_NEAR(out(0, 0, 0, 1), 1, 4 * 0x1p-53);
  k(0, 0, 1, 0) = -2000;  // exp(-2000) is 0 in float64
  v(0, 0, 1, 1) = kInf;
  attention(q, k, v, out);
  EXPECT_EQ(out(0, 0, 0, 0), 1.5);
  EXPECT_EQ(out(0, 0, 0, 1), 1.5);
}

TEST(AttentionRow, AnInfiniteValueIsItsLimit) {
  Tensor<float> q(Shape{1, 1, 1, 1}), k(Shape{1, 1, 2, 1}), v(Shape{1, 1, 2, 1}),
      out(Shape{1, 1, 1, 1});
  v(0, 0, 1, 0) = -std::numeric_limits<float>::infinity();
  attention(q, k, v, out);
  EXPECT_EQ(out(0, 0, 0, 0), -std::numeric_limits<float>::infinity());
  // The mean of the two largest numbers is one of them, not an overflow.
  v(0, 0, 0, 0) = v(0, 0, 1, 0) = std::numeric_limits<float>::max();
  attention(q, k, v, out);
  EXPECT_EQ(out(0, 0, 0, 0), std::numeric_limits<float>::max());
}

TEST(AttentionRow, AZeroScaleIsTheMeanAndANegativeOnePrefersTheLeastAlike) {
  AttentionOptions<double> options;
  options.scale = 0;
  EXPECT_EQ(probabilities({5, -7}, options), (std::vector<double>{0.5, 0.5}));
  options.scale = -1000;
  EXPECT_EQ(probabilities({5, -7}, options), (std::vector<double>{0, 1}));
}

template <class T>
T mean_of_subnormals() {
  Tensor<T> q(Shape{1, 1, 1, 1}), k(Shape{1, 1, 2, 1}), v(Shape{1, 1, 2, 1}),
      out(Shape{1, 1, 1, 1});
  v(0, 0, 0, 0) = v(0, 0, 1, 0) = 4 * std::numeric_limits<T>::denorm_min();
  attention(q, k, v, out);
  return out(0, 0, 0, 0);
}

TEST(AttentionRow, SubnormalNumbersAreNumbersInFloat64AndZerosInFloat32) {
  EXPECT_EQ(mean_of_subnormals<double>(), 4 * std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(mean_of_subnormals<float>(), 0);
}

TEST(AttentionRow, TheCallersTreatmentOfSubnormalNumbersIsRestored) {
  volatile float tiny = std::numeric_limits<float>::min();
  mean_of_subnormals<float>();
  EXPECT_GT(tiny / 4, 0);
}

}  // namespace
}  // namespace sextant
