// KERPLE's logarithmic kernel: golden values, limits of the weights, and their gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "schemes/distance/distance_checks.h"
#include "sextant/schemes/distance/kerple.h"

namespace sextant::kerple_log_test {
namespace {

using ::testing::HasSubstr;

double plain(const SchemeWeights& given, std::int64_t head, std::int64_t distance) {
  const double p = std::max(given.at("p")(head), 0.01), a = std::max(given.at("a")(head), 0.01);
  return -p * std::log(1 + a * std::abs(static_cast<double>(distance)));
}

SchemeWeights weights_of(const Tensor<double>& p, const Tensor<double>& a) {
  SchemeWeights weights;
  weights.emplace("p", p.clone());
  weights.emplace("a", a.clone());
  return weights;
}

TEST(KerpleLog, HasTheValuesOfItsFormula) {
  const DistanceBias bias = kerple_log({.p = {1}, .a = {1}}, 101);
  const std::pair<std::int64_t, double> known[] = {
      {0, 0}, {1, -0.69314718}, {2, -1.0986123}, {10, -2.3978953}, {100, -4.6151205}};
  for (const auto& [distance, value] : known) {
    // The catalogue prints 8 digits, float32 has 24 bits.
    EXPECT_NEAR(bias.values(0, 100 - distance), value, 5e-8 * std::max(1.0, -value) * 10);
    EXPECT_EQ(bias.values(0, 100 + distance), bias.values(0, 100 - distance));
  }
}

TEST(KerpleLog, LearnsItsTwoRatesInEachHead) {
  testing::Asked asked(30, 3);
  const SchemeWeights weights =
      weights_of(testing::drawn({3}, 1, 0.1, 2), testing::drawn({3}, 2, 0.1, 1));
  asked.request.weights = &weights;
  testing::expect_formula("kerple_log", asked.request, plain);
  testing::expect_gradients("kerple_log", asked.request, weights, plain);
}

// A step with the gradient and a projection is what the paper's code does.
TEST(KerpleLog, BelowItsLimitsHasTheValuesAndGradientsOfTheLimit) {
  const KerpleWeights below{.p = {-3, 1}, .a = {1, 0}}, limit{.p = {0.01, 1}, .a = {1, 0.01}};
  const DistanceBias a = kerple_log(below, 9), b = kerple_log(limit, 9);
  EXPECT_TRUE(std::equal(a.values.span().begin(), a.values.span().end(), b.values.data()));
  const Tensor<double> g = testing::drawn({2, 17}, 3);
  const KerpleWeights of_below = kerple_log_backward(below, g),
                      of_limit = kerple_log_backward(limit, g);
  EXPECT_EQ(of_below.p, of_limit.p);
  EXPECT_EQ(of_below.a, of_limit.a);
  EXPECT_NE(of_below.p[0], 0);
}

TEST(KerpleLog, StartsWhereThePapersCodeDoes) {
  const testing::Asked asked(5, 100);
  const SchemeWeights first = find_scheme("kerple_log").initial_weights(asked.request);
  const auto p = first.at("p").span(), a = first.at("a").span();
  EXPECT_GE(*std::min_element(p.begin(), p.end()), 0);
  EXPECT_GT(*std::max_element(p.begin(), p.end()), 1);
  EXPECT_LT(*std::max_element(p.begin(), p.end()), 2);
  EXPECT_LT(*std::max_element(a.begin(), a.end()), 1);
}

TEST(KerpleLog, StaysFiniteWithHugeWeights) {
  const double huge = std::numeric_limits<double>::max();
  const DistanceBias bias = kerple_log({.p = {huge}, .a = {huge}}, 100);
  for (const float value : bias.values.span()) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(bias.values(0, 99), 0);
}

TEST(KerpleLog, NamesTheArgumentAtFault) {
  EXPECT_THAT(error_of([] {
                kerple_log({.p = {1}, .a = {1, 2}}, 3);
              }),
              HasSubstr("[kerple_log.a] must be as many numbers as p, 1, got 2"));
  EXPECT_THAT(error_of([] { kerple_log({}, 3); }), HasSubstr("[kerple_log.heads]"));
  EXPECT_THAT(error_of([] { kerple_log({.p = {1}, .a = {1}}, -1); }),
              HasSubstr("[kerple_log.length]"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] { kerple_log({.p = {nan}, .a = {1}}, 3); }),
            "[kerple_log.p] must be finite");
  EXPECT_THAT(error_of([] {
                kerple_log_backward({.p = {1}, .a = {1}}, Tensor<double>({1, 2}));
              }),
              HasSubstr("[kerple_log.gradient]"));
  EXPECT_THAT(testing::refusal("kerple_log", {{"seed", "4294967296"}}),
              HasSubstr("[kerple_log.seed] must be 0 .. 2^32 - 1"));
  testing::Asked asked(4, 2);
  const SchemeWeights weights = weights_of(Tensor<double>({3}), Tensor<double>({2}));
  asked.request.weights = &weights;
  EXPECT_THAT(error_of([&] { find_scheme("kerple_log").make(asked.request); }),
              HasSubstr("[kerple_log.p] must be of shape [2], got [3]"));
}

}  // namespace
}  // namespace sextant::kerple_log_test
