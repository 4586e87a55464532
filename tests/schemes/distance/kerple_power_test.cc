// KERPLE's power kernel: golden values, limits of the weights, and their gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "schemes/distance/distance_checks.h"
#include "sextant/schemes/distance/kerple.h"

namespace sextant::kerple_power_test {
namespace {

using ::testing::HasSubstr;

double plain(const SchemeWeights& given, std::int64_t head, std::int64_t distance) {
  const double d = std::abs(static_cast<double>(distance));
  return d == 0 ? 0 : -given.at("a")(head) * std::exp(given.at("p")(head) * std::log(d));
}

TEST(KerplePower, HasTheValuesOfItsFormula) {
  const DistanceBias bias = kerple_power({.p = {0.5}, .a = {0.5}}, 101);
  const std::pair<std::int64_t, float> known[] = {
      {0, 0}, {1, -0.5F}, {4, -1}, {9, -1.5F}, {100, -5}};
  for (const auto& [distance, value] : known) {
    EXPECT_EQ(bias.values(0, 100 - distance), value) << distance;
    EXPECT_EQ(bias.values(0, 100 + distance), value) << distance;
  }
}

TEST(KerplePower, LearnsItsTwoRatesInEachHead) {
  testing::Asked asked(12, 3);
  SchemeWeights weights;
  weights.emplace("p", testing::drawn({3}, 1, 0.1, 1.9));
  weights.emplace("a", testing::drawn({3}, 2, 0.1, 1));
  asked.request.weights = &weights;
  testing::expect_formula("kerple_power", asked.request, plain);
  testing::expect_gradients("kerple_power", asked.request, weights, plain);
}

TEST(KerplePower, BeyondItsLimitsHasTheValuesAndGradientsOfTheLimit) {
  const KerpleWeights beyond{.p = {-3, 5, 1}, .a = {1, 1, -1}};
  const KerpleWeights limit{.p = {0.01, 2, 1}, .a = {1, 1, 0.01}};
  const DistanceBias a = kerple_power(beyond, 9), b = kerple_power(limit, 9);
  EXPECT_TRUE(std::equal(a.values.span().begin(), a.values.span().end(), b.values.data()));
  EXPECT_EQ(a.values(1, 0), -64);
  const Tensor<double> g = testing::drawn({3, 17}, 3);
  const KerpleWeights of_beyond = kerple_power_backward(beyond, g);
  const KerpleWeights of_limit = kerple_power_backward(limit, g);
  EXPECT_EQ(of_beyond.p, of_limit.p);
  EXPECT_EQ(of_beyond.a, of_limit.a);
}

// ln 0 would be minus infinity and 0 times it no number.
TEST(KerplePower, HasNoGradientFromDistanceZero) {
  Tensor<double> g({1, 1});
  g(0, 0) = 1;
  const KerpleWeights none = kerple_power_backward({.p = {1}, .a = {1}}, g);
  EXPECT_EQ(none.p[0], 0);
  EXPECT_EQ(none.a[0], 0);
}

TEST(KerplePower, StaysFiniteWithHugeWeights) {
  const DistanceBias bias =
      kerple_power({.p = {2}, .a = {std::numeric_limits<double>::max()}}, 100);
  for (const float value : bias.values.span()) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(bias.values(0, 99), 0);
}

TEST(KerplePower, NamesTheArgumentAtFault) {
  EXPECT_THAT(error_of([] {
                kerple_power({.p = {1}, .a = {1, 2}}, 3);
              }),
              HasSubstr("[kerple_power.a] must be as many numbers as p"));
  EXPECT_THAT(error_of([] { kerple_power({.p = {1}, .a = {1}}, 0); }),
              HasSubstr("[kerple_power.length]"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] { kerple_power({.p = {1}, .a = {nan}}, 3); }),
            "[kerple_power.a] must be finite");
  EXPECT_THAT(testing::refusal("kerple_power", {{"seed", "x"}}), HasSubstr("[kerple_power.seed]"));
}

}  // namespace
}  // namespace sextant::kerple_power_test
