// Choosing a token: each filter by its definition, draws by a chi-square test, every error.
#include "sextant/models/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<float> logits_for(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

// Logits below 8 rounded to float32 are off by 2^-22 at most, and so, relatively, are the
// probabilities and their sum.
constexpr double kTolerance = 1e-6;

void expect_probabilities(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], kTolerance) << i;
    EXPECT_EQ(got[i] == 0, wanted[i] == 0) << i;
  }
}

const std::vector<double> kFive = {0.1, 0.4, 0.05, 0.25, 0.2};

TEST(GreedyToken, IsTheLowestOfTheLargest) {
  EXPECT_EQ(greedy_token(std::vector<float>{1, 3, 2, 3}), 1);
  EXPECT_EQ(greedy_token(std::vector<float>{kNever, -5}), 1);
  EXPECT_EQ(greedy_token(std::vector<float>{7}), 0);
}

TEST(Sampling, WithoutOptionsIsSoftmax) {
  expect_probabilities(token_probabilities(logits_for(kFive), {}), kFive);
  expect_probabilities(token_probabilities(std::vector<float>{0, kNever, 0}, {}), {0.5, 0, 0.5});
}

TEST(Sampling, TemperatureIsAPowerOfTheProbabilities) {
  double sum = 0;
  for (const double p : kFive) sum += p * p;
  std::vector<double> squares;
  for (const double p : kFive) squares.push_back(p * p / sum);
  expect_probabilities(token_probabilities(logits_for(kFive), {.temperature = 0.5}), squares);
}

TEST(Sampling, TemperatureZeroAndNearlyZeroAreGreedy) {
  const std::vector<float> logits = {1, 3, 2, 3};
  EXPECT_THAT(token_probabilities(logits, {.temperature = 0}), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(token_probabilities(logits, {.temperature = 5e-324}),
              ElementsAre(0, DoubleNear(0.5, 1e-15), 0, DoubleNear(0.5, 1e-15)));
  NumpyRandom random(7);
  NumpyRandom untouched(7);
  EXPECT_EQ(sample_token(logits, {.temperature = 0}, random), greedy_token(logits));
  EXPECT_EQ(random.bits(), untouched.bits());
}

TEST(Sampling, HugeLogitsDoNotOverflow) {
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_THAT(token_probabilities(std::vector<float>{kMax, -kMax, kMax}, {.temperature = 1e-300}),
              ElementsAre(0.5, 0, 0.5));
}

TEST(Sampling, TopKKeepsTheKMostProbable) {
  const std::vector<float> logits = logits_for(kFive);
  expect_probabilities(token_probabilities(logits, {.top_k = 2}),
                       {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  expect_probabilities(token_probabilities(logits, {.top_k = 1}), {0, 1, 0, 0, 0});
  expect_probabilities(token_probabilities(logits, {.top_k = 5}), kFive);
  expect_probabilities(token_probabilities(logits, {.top_k = 1000}), kFive);
}

TEST(Sampling, EqualsGiveTheirPlaceToTheLowerIndex) {
  const std::vector<float> equal = {0, 1, 1, 1};
  expect_probabilities(token_probabilities(equal, {.top_k = 2}), {0, 0.5, 0.5, 0});
  expect_probabilities(token_probabilities(std::vector<float>{0, 0, 0, 0}, {.top_p = 0.5}),
                       {0.5, 0.5, 0, 0});
}

TEST(Sampling, TopPKeepsTheSmallestSetThatReachesIt) {
  const std::vector<float> logits = logits_for(kFive);
  expect_probabilities(token_probabilities(logits, {.top_p = 0.39}), {0, 1, 0, 0, 0});
  expect_probabilities(token_probabilities(logits, {.top_p = 0.41}),
                       {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  expect_probabilities(token_probabilities(logits, {.top_p = 0.94}),
                       {0.1 / 0.95, 0.4 / 0.95, 0, 0.25 / 0.95, 0.2 / 0.95});
  expect_probabilities(token_probabilities(logits, {.top_p = 1}), kFive);
  expect_probabilities(token_probabilities(logits, {.top_p = 1e-300}), {0, 1, 0, 0, 0});
}

TEST(Sampling, TopPCountsWhatTopKLeft) {
  // 0.4, 0.25 and 0.2 remain; 0.4 of 0.85 is 0.47, with 0.25 it is 0.76.
  expect_probabilities(token_probabilities(logits_for(kFive), {.top_k = 3, .top_p = 0.7}),
                       {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
}

TEST(Sampling, RepetitionPenaltyActsOncePerTokenByItsSign) {
  const std::vector<float> logits = {2, -1, 2, 0};
  const std::vector<std::int64_t> previous = {0, 1, 0};
  const double wanted[] = {std::exp(1.0), std::exp(-2.0), std::exp(2.0), 1};
  const double sum = wanted[0] + wanted[1] + wanted[2] + wanted[3];
  expect_probabilities(token_probabilities(logits, {.repetition_penalty = 2}, previous),
                       {wanted[0] / sum, wanted[1] / sum, wanted[2] / sum, wanted[3] / sum});
  NumpyRandom random(0);
  EXPECT_EQ(sample_token(logits, {.repetition_penalty = 2, .temperature = 0}, random, previous), 2);
}

// The sum of (drawn - wanted)^2 / wanted over n cells has chi-square's distribution with n - 1
// degrees of freedom: above 18.47 for 4 in one of 1000 seeds. The seed is fixed.
TEST(Sampling, DrawsFollowTheProbabilities) {
  constexpr int kDraws = 100000;
  NumpyRandom random(20);
  std::vector<double> drawn(kFive.size());
  const std::vector<float> logits = logits_for(kFive);
  for (int i = 0; i < kDraws; ++i) {
    drawn[static_cast<std::size_t>(sample_token(logits, {}, random))] += 1;
  }
  double chi_square = 0;
  for (std::size_t i = 0; i < kFive.size(); ++i) {
    const double wanted = kFive[i] * kDraws;
    chi_square += (drawn[i] - wanted) * (drawn[i] - wanted) / wanted;
  }
  EXPECT_LT(chi_square, 18.47);
  EXPECT_GT(chi_square, 0.01);
}

TEST(Sampling, NeverDrawsWhatIsFilteredAway) {
  NumpyRandom random(3);
  const std::vector<float> logits = {0, kNever, 1, 2, kNever};
  for (int i = 0; i < 2000; ++i) {
    const auto token = sample_token(logits, {.top_k = 2}, random);
    EXPECT_TRUE(token == 2 || token == 3) << token;
  }
}

TEST(Sampling, TheSameSeedDrawsTheSameTokens) {
  NumpyRandom first(11);
  NumpyRandom second(11);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(sample_token(logits_for(kFive), {.top_p = 0.9}, first),
              sample_token(logits_for(kFive), {.top_p = 0.9}, second));
  }
}

TEST(Sampling, RefusesLogitsWithoutAChoice) {
  const auto refused = [](const std::vector<float>& logits) {
    EXPECT_THROW(token_probabilities(logits, {}), Error);
    return error_of([&] { greedy_token(logits); });
  };
  EXPECT_THAT(refused({}), HasSubstr("[sampling.logits] must hold at least one token"));
  EXPECT_THAT(refused({0, std::nanf("")}), HasSubstr("finite or -inf, got nan for token 1"));
  EXPECT_THAT(refused({-kNever, 0}), HasSubstr("finite or -inf, got inf for token 0"));
  EXPECT_THAT(refused({kNever, kNever}), HasSubstr("got -inf for all"));
}

TEST(Sampling, RefusesOptionsOutOfRange) {
  const auto refused = [](const SamplingOptions& options) {
    return error_of([&] { token_probabilities(std::vector<float>{1, 2}, options); });
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, 2000.0, kNan}) {
    EXPECT_THAT(refused({.repetition_penalty = bad}), HasSubstr("[sampling.repetition_penalty]"));
  }
  for (const double bad : {-0.1, std::numeric_limits<double>::infinity(), kNan}) {
    EXPECT_THAT(refused({.temperature = bad}),
                HasSubstr("[sampling.temperature] must be finite and at least 0"));
  }
  EXPECT_THAT(refused({.top_k = -1}), HasSubstr("[sampling.top_k] must be at least 0, got -1"));
  for (const double bad : {0.0, 1.1, kNan}) {
    EXPECT_THAT(refused({.top_p = bad}), HasSubstr("[sampling.top_p] must be above 0"));
  }
  EXPECT_THAT(error_of([] {
                token_probabilities(std::vector<float>{1, 2}, {}, std::vector<std::int64_t>{2});
              }),
              HasSubstr("[sampling.previous] must be in 0 .. 1, got 2"));
}

}  // namespace
}  // namespace sextant
