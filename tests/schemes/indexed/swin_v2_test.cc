// Swin-v2's biases: the coordinates of the released code, the network, and its gradients.
#include "sextant/schemes/indexed/swin_v2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "schemes/indexed/indexed_checks.h"
#include "sextant/schemes/indexed/swin.h"

namespace sextant::swin_v2_test {
namespace {

using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

double plain(const SchemeWeights& given, std::int64_t head, std::int64_t query, std::int64_t key,
             std::int64_t columns, std::int64_t by_rows, std::int64_t by_columns) {
  const auto g = [](std::int64_t offset, std::int64_t window) {
    const double u = 8.0 * static_cast<double>(offset) / static_cast<double>(window - 1);
    return (u > 0 ? 1 : u < 0 ? -1 : 0) * std::log(std::abs(u) + 1) / std::log(8.0);
  };
  const double down = g(query / columns - key / columns, by_rows);
  const double across = g(query % columns - key % columns, by_columns);
  double sum = 0;
  for (std::int64_t u = 0; u < given.at("b1").size(0); ++u) {
    const double before =
        given.at("w1")(u, 0) * down + given.at("w1")(u, 1) * across + given.at("b1")(u);
    sum += given.at("w2")(head, u) * std::max(0.0, before);
  }
  return 16 / (1 + std::exp(-sum));
}

SchemeWeights some_weights() {
  SchemeWeights weights;
  weights.emplace("w1", testing::drawn({6, 2}, 1));
  weights.emplace("b1", testing::drawn({6}, 2));
  weights.emplace("w2", testing::drawn({2, 6}, 3));
  return weights;
}

TEST(SwinV2, HasThePublishedCoordinates) {
  const double known[] = {0,          0.36651189, 0.57206901, 0.71561380,
                          0.82601577, 0.91574464, 0.99133493, 1.0566417};
  for (std::int64_t offset = 0; offset < 8; ++offset) {
    EXPECT_NEAR(swin_v2_coordinate(offset, 8), known[offset], 5e-8);  // as printed
    EXPECT_EQ(swin_v2_coordinate(-offset, 8), -swin_v2_coordinate(offset, 8));
  }
  EXPECT_GT(swin_v2_coordinate(11, 8), 1.0567);  // beyond the window of the training
  EXPECT_EQ(swin_v2_coordinate(0, 1), 0);
}

TEST(SwinV2, IsTheNetworkOfTheOffsetInAnyTile) {
  testing::Asked asked(12, 2, {{"rows", "3"}, {"columns", "4"}, {"hidden", "6"}});
  const SchemeWeights weights = some_weights();
  asked.request.weights = &weights;
  // Sums of a dozen products of numbers below 2, 16 times a sigmoid of slope 1/4: 2^-45.
  testing::expect_pairs(
      *testing::indexed_bias_of("swin_v2", asked.request), 2, 12,
      [&](std::int64_t head, std::int64_t query, std::int64_t key) {
        return plain(weights, head, query, key, 4, 3, 4);
      },
      0x1p-45);
}

TEST(SwinV2, ScalesByTheWindowOfItsTraining) {
  testing::Asked asked(8, 2,
                       {{"rows", "2"},
                        {"columns", "4"},
                        {"hidden", "6"},
                        {"pretrained_rows", "8"},
                        {"pretrained_columns", "3"}});
  const SchemeWeights weights = some_weights();
  asked.request.weights = &weights;
  testing::expect_pairs(
      *testing::indexed_bias_of("swin_v2", asked.request), 2, 8,
      [&](std::int64_t head, std::int64_t query, std::int64_t key) {
        return plain(weights, head, query, key, 4, 8, 3);
      },
      0x1p-45);
}

TEST(SwinV2, LearnsItsNetwork) {
  const testing::Asked asked(12, 2, {{"rows", "3"}, {"columns", "4"}, {"hidden", "6"}});
  // No sum is within a step of a kink of relu: offsets are few and the weights random.
  testing::expect_pair_gradients(
      "swin_v2", asked.request, some_weights(),
      [](const SchemeWeights& given, std::int64_t head, std::int64_t query, std::int64_t key) {
        return plain(given, head, query, key, 4, 3, 4);
      });
}

TEST(SwinV2, BakesATableForSwin) {
  const SchemeWeights given = some_weights();
  const SwinV2Weights weights{given.at("w1").clone(), given.at("b1").clone(),
                              given.at("w2").clone()};
  const SwinV2 options{.rows = 3, .columns = 3};
  const List ids{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const Tensor<double> table = swin_v2_table(options, weights);
  EXPECT_EQ(table.shape(), Shape({25, 2}));
  const Tensor<float> a = testing::pairs_of(*swin_v2(options, weights, ids), 1, 9);
  const Tensor<float> b = testing::pairs_of(*swin({3, 3}, {table.clone()}, ids), 1, 9);
  EXPECT_TRUE(std::equal(a.span().begin(), a.span().end(), b.data()));
}

TEST(SwinV2, OfOnePatchHasABias) {
  const testing::Asked asked(1, 1);
  const Tensor<float> pair =
      testing::pairs_of(*testing::indexed_bias_of("swin_v2", asked.request), 0, 1);
  EXPECT_GT(pair(0, 0), 0);
  EXPECT_LT(pair(0, 0), 16);
}

TEST(SwinV2, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("swin_v2", {{"pretrained_rows", "1"}}),
            "[swin_v2.pretrained_rows] must be 2 .. 2^28, got 1");
  EXPECT_THAT(testing::refusal("swin_v2", {{"pretrained_columns", "-2"}}),
              HasSubstr("[swin_v2.pretrained_columns]"));
  EXPECT_EQ(testing::refusal("swin_v2", {{"hidden", "0"}}),
            "[swin_v2.hidden] must be 1 .. 2^16, got 0");
  EXPECT_THAT(testing::refusal("swin_v2", {{"rows", "1"}, {"columns", "1"}}),
              HasSubstr("[swin_v2.positions]"));
  EXPECT_THAT(testing::refusal("swin_v2", {}, 0), HasSubstr("[swin_v2.heads]"));
  const auto refused = [](Shape w1, Shape b1, Shape w2, double value) {
    SwinV2Weights weights{Tensor<double>(w1), Tensor<double>(b1), Tensor<double>(w2)};
    for (Tensor<double>* each : {&weights.w1, &weights.b1, &weights.w2}) {
      for (double& number : each->span()) number = value;
    }
    return error_of([&] { swin_v2_table({.rows = 2, .columns = 2}, weights); });
  };
  EXPECT_THAT(refused({4, 3}, {4}, {1, 4}, 1), HasSubstr("[swin_v2.w1]"));
  EXPECT_THAT(refused({4, 2}, {3}, {1, 4}, 1), HasSubstr("[swin_v2.b1]"));
  EXPECT_THAT(refused({4, 2}, {4}, {1, 5}, 1), HasSubstr("[swin_v2.w2]"));
  EXPECT_THAT(refused({4, 2}, {4}, {1, 4}, 1e300), HasSubstr("[swin_v2.w2] must give finite"));
  EXPECT_THAT(refused({4, 2}, {4}, {1, 4}, std::numeric_limits<double>::infinity()),
              HasSubstr("[swin_v2.w1] must be finite"));
}

}  // namespace
}  // namespace sextant::swin_v2_test
