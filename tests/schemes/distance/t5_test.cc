// T5's buckets: the edges, the released code's choices, and the table's gradient.
#include "sextant/schemes/distance/t5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "schemes/distance/distance_checks.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The paper's released code, with the logarithm of long double.
std::int64_t plain_bucket(std::int64_t distance, std::int64_t buckets, std::int64_t most,
                          bool bidirectional) {
  std::int64_t bucket = 0, n = -distance;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) bucket = buckets;
    n = n < 0 ? -n : n;
  } else {
    n = std::max<std::int64_t>(n, 0);
  }
  const std::int64_t exact = buckets / 2;
  if (n < exact) return bucket + n;
  const long double part =
      std::log(static_cast<long double>(n) / static_cast<long double>(exact)) /
      std::log(static_cast<long double>(most) / static_cast<long double>(exact));
  // Whole quotients may come out a little below: 2^-50 is beyond what rounding does to them and
  // far less than any other quotient of these settings is away from a whole number.
  const auto steps =
      static_cast<std::int64_t>(part * static_cast<long double>(buckets - exact) + 0x1p-50L);
  return bucket + std::min(buckets - 1, exact + steps);
}

TEST(T5Buckets, StartWhereThePapersCodePutsThem) {
  const T5Buckets both;
  EXPECT_THAT(std::vector<std::int64_t>(both.edges().begin(), both.edges().end()),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91));
  const T5Buckets past({.bidirectional = false});
  EXPECT_THAT(std::vector<std::int64_t>(past.edges().begin() + 15, past.edges().end()),
              ElementsAre(15, 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113));
}

TEST(T5Buckets, AreThoseOfKnownDistances) {
  const std::pair<std::int64_t, std::int64_t> both[] = {
      {0, 0},     {-1, 1},     {1, 17},   {-7, 7},   {-8, 8},   {-11, 8},  {-12, 9},  {-15, 9},
      {-16, 10},  {-22, 10},   {-23, 11}, {-32, 12}, {-46, 13}, {-64, 14}, {-90, 14}, {-91, 15},
      {-128, 15}, {-1000, 15}, {8, 24},   {16, 26},  {128, 31}, {1000, 31}};
  for (const auto& [distance, bucket] : both) EXPECT_EQ(t5_bucket(distance), bucket) << distance;
  const std::pair<std::int64_t, std::int64_t> past[] = {
      {0, 0},    {5, 0},    {1000, 0}, {-1, 1},   {-15, 15},  {-16, 16},  {-18, 16}, {-19, 17},
      {-21, 18}, {-31, 21}, {-32, 21}, {-64, 26}, {-112, 30}, {-113, 31}, {-500, 31}};
  for (const auto& [distance, bucket] : past) {
    EXPECT_EQ(t5_bucket(distance, {.bidirectional = false}), bucket) << distance;
  }
  const std::pair<std::int64_t, std::int64_t> wavlm[] = {
      {-79, 79}, {-80, 80}, {-81, 80}, {-100, 87}, {-400, 135}, {-799, 159}, {1, 161}, {100, 247}};
  for (const auto& [distance, bucket] : wavlm) {
    EXPECT_EQ(t5_bucket(distance, {.num_buckets = 320, .max_distance = 800}), bucket) << distance;
  }
}

TEST(T5Buckets, AgreeWithTheFormulaForOtherSettings) {
  const T5 settings[] = {{32, 128, true},  {32, 128, false},  {320, 800, true},   {64, 256, false},
                         {16, 1024, true}, {7, 100, false},   {4, 2, true},       {2, 2, false},
                         {40, 11, true},   {512, 4096, true}, {128, 65536, false}};
  for (const T5& options : settings) {
    const T5Buckets bucket(options);
    for (std::int64_t distance = -3000; distance <= 3000; ++distance) {
      ASSERT_EQ(bucket(distance), plain_bucket(distance, options.num_buckets, options.max_distance,
                                               options.bidirectional))
          << distance << " of " << options.num_buckets << ", " << options.max_distance;
    }
  }
}

TEST(T5Buckets, AreExactWhereTheQuotientIsWhole) {
  // ln(2^j) / ln(2^20) x 20 = j: every power of two is an edge.
  const T5Buckets bucket({.num_buckets = 40, .max_distance = 20 << 20, .bidirectional = false});
  for (int j = 0; j < 20; ++j) {
    const std::int64_t edge = std::int64_t{20} << j;
    EXPECT_EQ(bucket(-edge), 20 + j) << edge;
    if (j > 0) {
      EXPECT_EQ(bucket(1 - edge), 19 + j) << edge;
    }
  }
}

TEST(T5Buckets, TakeAnyDistance) {
  EXPECT_EQ(t5_bucket(std::numeric_limits<std::int64_t>::min()), 15);
  EXPECT_EQ(t5_bucket(std::numeric_limits<std::int64_t>::max()), 31);
  EXPECT_EQ(t5_bucket(std::numeric_limits<std::int64_t>::max(), {.bidirectional = false}), 0);
  const T5Buckets many({.num_buckets = 4096, .max_distance = 1 << 28});
  EXPECT_EQ(many(-(1 << 28)), 2047);
  EXPECT_TRUE(std::is_sorted(many.edges().begin(), many.edges().end()));
}

// The future's half of the table is its second, and bucket 16 is never used.
TEST(T5, AddsTheBucketsNumberOfItsHead) {
  testing::Asked asked(200, 3);
  SchemeWeights weights;
  weights.emplace("table", testing::drawn({32, 3}, 1));
  asked.request.weights = &weights;
  const auto formula = [](const SchemeWeights& given, std::int64_t head, std::int64_t distance) {
    return given.at("table")(plain_bucket(distance, 32, 128, true), head);
  };
  testing::expect_formula("t5", asked.request, formula);
  testing::expect_gradients("t5", asked.request, weights, formula);
}

TEST(T5, ForOneDirectionGivesTheFutureTheBucketOfZero) {
  testing::Asked asked(40, 2,
                       {{"bidirectional", "no"}, {"num_buckets", "8"}, {"max_distance", "20"}});
  SchemeWeights weights;
  weights.emplace("table", testing::drawn({8, 2}, 2));
  asked.request.weights = &weights;
  const auto formula = [](const SchemeWeights& given, std::int64_t head, std::int64_t distance) {
    return given.at("table")(plain_bucket(distance, 8, 20, false), head);
  };
  testing::expect_formula("t5", asked.request, formula);
  testing::expect_gradients("t5", asked.request, weights, formula);
}

TEST(T5, StartsFromASeed) {
  const testing::Asked asked(4, 2), other(4, 2, {{"seed", "1"}});
  const Scheme& scheme = find_scheme("t5");
  const SchemeWeights first = scheme.initial_weights(asked.request);
  const SchemeWeights again = scheme.initial_weights(asked.request);
  const SchemeWeights second = scheme.initial_weights(other.request);
  ASSERT_EQ(first.at("table").shape(), Shape({32, 2}));
  EXPECT_EQ(first.at("table")(31, 1), again.at("table")(31, 1));
  EXPECT_NE(first.at("table")(31, 1), second.at("table")(31, 1));
  const DistanceBias bias = testing::distance_bias_of("t5", asked.request);
  EXPECT_EQ(bias.values(1, 3), static_cast<float>(first.at("table")(0, 1)));
}

TEST(T5, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("t5", {{"num_buckets", "31"}}),
            "[t5.num_buckets] must be even, 4 .. 4096, got 31");
  EXPECT_EQ(testing::refusal("t5", {{"num_buckets", "1"}, {"bidirectional", "no"}}),
            "[t5.num_buckets] must be 2 .. 4096, got 1");
  EXPECT_EQ(testing::refusal("t5", {{"max_distance", "8"}}),
            "[t5.max_distance] must be 9 .. 2^28 with 32 buckets, got 8");
  EXPECT_THAT(testing::refusal("t5", {{"max_distance", "268435457"}}), HasSubstr("2^28"));
  EXPECT_THAT(testing::refusal("t5", {{"bidirectional", "maybe"}}), HasSubstr("yes or no"));
  EXPECT_THAT(testing::refusal("t5", {{"seed", "-1"}}), HasSubstr("[t5.seed]"));
  EXPECT_THAT(testing::refusal("t5", {}, 0), HasSubstr("[t5.heads]"));
  T5Weights weights{Tensor<double>({32, 2})};
  EXPECT_THAT(error_of([&] { t5({.num_buckets = 16}, weights, 4); }),
              HasSubstr("[t5.table] must be [16, heads], got [32, 2]"));
  EXPECT_THAT(error_of([&] { t5({}, weights, 0); }), HasSubstr("[t5.length]"));
  weights.table(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of([&] { t5({}, weights, 4); }), "[t5.table] must be finite");
  EXPECT_THAT(error_of([] {
                t5_backward({}, {Tensor<double>({32, 2})}, Tensor<double>({2, 4}));
              }),
              HasSubstr("[t5.gradient] must be [2, 2 length - 1]"));
  testing::Asked asked(4, 2);
  EXPECT_THAT(error_of([&] {
                find_scheme("t5").backward(asked.request, Tensor<double>({3, 7}));
              }),
              HasSubstr("[t5.gradient] must be [2, 2 length - 1]"));
  SchemeWeights wrong;
  wrong.emplace("table", Tensor<double>({32, 3}));
  asked.request.weights = &wrong;
  EXPECT_THAT(error_of([&] { find_scheme("t5").make(asked.request); }),
              HasSubstr("[t5.table] must be of shape [32, 2], got [32, 3]"));
}

}  // namespace
}  // namespace sextant
