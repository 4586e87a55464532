// The clipped table: a row per distance, shared beyond the limit, and its gradient.
#include "sextant/schemes/distance/clipped.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "schemes/distance/distance_checks.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Clipped, ReadsThePastFromTheFirstRowsAndSharesTheFarOnes) {
  ClippedWeights weights{Tensor<double>({5, 1})};
  for (std::int64_t row = 0; row < 5; ++row) {
    weights.table(row, 0) = static_cast<double>(10 + row);
  }
  const DistanceBias bias = clipped({.max_distance = 2}, weights, 5);
  EXPECT_EQ(bias.origin, 4);
  EXPECT_THAT(std::vector<float>(bias.values.span().begin(), bias.values.span().end()),
              ElementsAre(10, 10, 10, 11, 12, 13, 14, 14, 14));
}

TEST(Clipped, LearnsItsRows) {
  testing::Asked asked(12, 3, {{"max_distance", "4"}});
  SchemeWeights weights;
  weights.emplace("table", testing::drawn({9, 3}, 1));
  asked.request.weights = &weights;
  const auto plain = [](const SchemeWeights& given, std::int64_t head, std::int64_t distance) {
    const std::int64_t row = distance < -4 ? 0 : distance > 4 ? 8 : distance + 4;
    return given.at("table")(row, head);
  };
  testing::expect_formula("clipped", asked.request, plain);
  testing::expect_gradients("clipped", asked.request, weights, plain);
}

TEST(Clipped, OfOneRowIsAConstant) {
  ClippedWeights weights{Tensor<double>({1, 2})};
  weights.table(0, 1) = 3;
  const DistanceBias bias = clipped({.max_distance = 0}, weights, 3);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(bias.values(0, i), 0);
    EXPECT_EQ(bias.values(1, i), 3);
  }
}

TEST(Clipped, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("clipped", {{"max_distance", "-1"}}),
            "[clipped.max_distance] must be 0 .. 2^28, got -1");
  EXPECT_THAT(testing::refusal("clipped", {{"seed", "-1"}}), HasSubstr("[clipped.seed]"));
  EXPECT_THAT(testing::refusal("clipped", {}, 0), HasSubstr("[clipped.heads]"));
  EXPECT_THAT(error_of([] {
                clipped({.max_distance = 2}, {Tensor<double>({4, 2})}, 3);
              }),
              HasSubstr("[clipped.table] must be [5, heads], got [4, 2]"));
  EXPECT_THAT(error_of([] {
                clipped({.max_distance = 2}, {Tensor<double>({5, 2})}, 0);
              }),
              HasSubstr("[clipped.length]"));
  ClippedWeights weights{Tensor<double>({3, 1})};
  weights.table(2, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] { clipped({.max_distance = 1}, weights, 3); }),
            "[clipped.table] must be finite");
  EXPECT_THAT(
      error_of([] {
        clipped_backward({.max_distance = 2}, {Tensor<double>({5, 1})}, Tensor<double>({4}));
      }),
      HasSubstr("[clipped.gradient]"));
  EXPECT_THAT(error_of([] {
                clipped_backward({.max_distance = -1}, {}, Tensor<double>({1, 3}));
              }),
              HasSubstr("[clipped.max_distance]"));
}

}  // namespace
}  // namespace sextant
