// TISA: bells where the weights put them, on either side, and their gradients.
#include "sextant/schemes/distance/tisa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "schemes/distance/distance_checks.h"

namespace sextant::tisa_test {
namespace {

using ::testing::HasSubstr;

double plain(const SchemeWeights& given, std::int64_t head, std::int64_t distance) {
  double sum = 0;
  for (std::int64_t s = 0; s < given.at("offsets").size(1); ++s) {
    const double far = static_cast<double>(distance) - given.at("offsets")(head, s);
    sum += given.at("amplitudes")(head, s) *
           std::exp(-std::abs(given.at("sharpness")(head, s)) * std::pow(far, 2));
  }
  return sum;
}

TisaWeights one_bell(double amplitude, double sharpness, double offset) {
  TisaWeights weights{Tensor<double>({1, 1}), Tensor<double>({1, 1}), Tensor<double>({1, 1})};
  weights.amplitudes(0, 0) = amplitude;
  weights.sharpness(0, 0) = sharpness;
  weights.offsets(0, 0) = offset;
  return weights;
}

// A key 2 behind its query stands at distance -2.
TEST(Tisa, PutsABellAtItsOffsetFromTheQuery) {
  const DistanceBias bias = tisa(one_bell(3, std::log(2.0), -2), 5);
  EXPECT_EQ(bias.values(0, 4 - 2), 3);
  EXPECT_NEAR(bias.values(0, 4 - 3), 1.5, 1e-7);
  EXPECT_NEAR(bias.values(0, 4 - 1), 1.5, 1e-7);
  EXPECT_NEAR(bias.values(0, 4), 3.0 / 16, 1e-8);
  EXPECT_LT(bias.values(0, 4 + 2), 1e-4);
}

TEST(Tisa, LearnsHeightsWidthsAndPlaces) {
  testing::Asked asked(9, 3, {{"kernels", "2"}});
  SchemeWeights weights;
  weights.emplace("amplitudes", testing::drawn({3, 2}, 1));
  weights.emplace("sharpness", testing::drawn({3, 2}, 2));
  weights.emplace("offsets", testing::drawn({3, 2}, 3, -6, 6));
  asked.request.weights = &weights;
  // Signs and heads differ, so sums of bells may nearly cancel: bells are below 1 in size.
  const DistanceBias bias = testing::distance_bias_of("tisa", asked.request);
  for (std::int64_t head = 0; head < 3; ++head) {
    for (std::int64_t distance = -8; distance <= 8; ++distance) {
      EXPECT_NEAR(bias.values(head, distance + 8), plain(weights, head, distance), 0x1p-23);
    }
  }
  testing::expect_gradients("tisa", asked.request, weights, plain);
}

TEST(Tisa, StartsWithFiveBells) {
  const testing::Asked asked(4, 2);
  const SchemeWeights first = find_scheme("tisa").initial_weights(asked.request);
  EXPECT_EQ(first.at("amplitudes").shape(), Shape({2, 5}));
  EXPECT_EQ(first.at("sharpness").shape(), Shape({2, 5}));
  EXPECT_EQ(first.at("offsets").shape(), Shape({2, 5}));
}

TEST(Tisa, MakesNoNaNOfExtremeWeights) {
  constexpr double kHuge = std::numeric_limits<double>::max();
  const TisaWeights extremes[] = {one_bell(kHuge, 0, kHuge), one_bell(1, kHuge, 0),
                                  one_bell(kHuge, kHuge, -kHuge), one_bell(-kHuge, 1e-300, 1)};
  Tensor<double> g({1, 5});
  for (double& value : g.span()) value = 1;
  for (const TisaWeights& weights : extremes) {
    const DistanceBias bias = tisa(weights, 3);
    for (const float value : bias.values.span()) EXPECT_TRUE(std::isfinite(value));
    const TisaWeights gradients = tisa_backward(weights, g);
    EXPECT_FALSE(std::isnan(gradients.amplitudes(0, 0)));
    EXPECT_FALSE(std::isnan(gradients.sharpness(0, 0)));
    EXPECT_FALSE(std::isnan(gradients.offsets(0, 0)));
  }
}

TEST(Tisa, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("tisa", {{"kernels", "0"}}),
            "[tisa.kernels] must be 1 .. 2^16, got 0");
  EXPECT_THAT(testing::refusal("tisa", {{"seed", "-1"}}), HasSubstr("[tisa.seed]"));
  EXPECT_THAT(testing::refusal("tisa", {}, -1), HasSubstr("[tisa.heads]"));
  EXPECT_THAT(error_of([] { tisa({}, 3); }), HasSubstr("[tisa.amplitudes]"));
  TisaWeights wrong = one_bell(1, 1, 1);
  wrong.offsets = Tensor<double>({1, 2});
  EXPECT_EQ(error_of([&] { tisa(wrong, 3); }),
            "[tisa.offsets] must be [1, 1], as the amplitudes, got [1, 2]");
  const TisaWeights infinite = one_bell(1, std::numeric_limits<double>::infinity(), 0);
  EXPECT_EQ(error_of([&] { tisa(infinite, 3); }), "[tisa.sharpness] must be finite");
  EXPECT_THAT(error_of([] { tisa(one_bell(1, 1, 1), 0); }), HasSubstr("[tisa.length]"));
  EXPECT_THAT(error_of([] {
                tisa_backward(one_bell(1, 1, 1), Tensor<double>({2, 5}));
              }),
              HasSubstr("[tisa.gradient] must be [1, 2 length - 1]"));
}

}  // namespace
}  // namespace sextant::tisa_test
