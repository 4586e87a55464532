// FIRE: the published arguments, the network as the paper writes it, and its gradients.
#include "sextant/schemes/indexed/fire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::fire_test {
namespace {

using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

double plain_argument(double c, double threshold, double epsilon, std::int64_t i, std::int64_t j) {
  const auto psi = [&](double x) { return std::log(std::abs(c * x) + 1); };
  return psi(static_cast<double>(i - j)) /
         (psi(std::max(threshold, static_cast<double>(i))) + epsilon);
}

double plain(const SchemeWeights& given, double threshold, std::int64_t head, std::int64_t i,
             std::int64_t j) {
  const double x = plain_argument(
      given.at("c")(0), std::abs(given.at("threshold_multiplier")(0) * threshold), 1e-6, i, j);
  double sum = given.at("b2")(head);
  for (std::int64_t u = 0; u < given.at("w1").size(0); ++u) {
    sum += given.at("w2")(head, u) * std::max(0.0, given.at("w1")(u) * x + given.at("b1")(u));
  }
  return sum;
}

SchemeWeights some_weights(double c, double multiplier) {
  SchemeWeights weights;
  weights.emplace("c", testing::drawn({1}, 1, c, c));
  weights.emplace("threshold_multiplier", testing::drawn({1}, 1, multiplier, multiplier));
  weights.emplace("w1", testing::drawn({8}, 2));
  weights.emplace("b1", testing::drawn({8}, 3));
  weights.emplace("w2", testing::drawn({3, 8}, 4));
  weights.emplace("b2", testing::drawn({3}, 5));
  return weights;
}

// A network that hands its argument through: one unit, all ones.
TEST(Fire, HasThePublishedArguments) {
  FireWeights weights{0.1,
                      1,
                      testing::drawn({1}, 1, 1, 1),
                      Tensor<double>({1}),
                      testing::drawn({1, 1}, 1, 1, 1),
                      Tensor<double>({1})};
  List ids;
  for (std::int64_t id = 0; id <= 600; ++id) ids.push_back(id);
  const auto bias = fire({.epsilon = 1e-300}, weights, ids);
  const Tensor<float> pairs = testing::pairs_of(*bias, 0, 601);
  // Eight digits are printed.
  EXPECT_NEAR(pairs(10, 0), 0.17525480, 2e-8);
  EXPECT_NEAR(pairs(10, 5), 0.10251748, 2e-8);
  EXPECT_EQ(pairs(600, 0), 1);
  EXPECT_NEAR(pairs(600, 300), 0.83534239, 6e-8);
  EXPECT_EQ(pairs(7, 7), 0);
  EXPECT_EQ(pairs(10, 15), pairs(10, 5));  // the future by its distance
}

// Weights and arguments are below 1.5, so are the parts of the sums: 2^-45 for a few dozen of them.
// With threshold 0 the first query's denominator is epsilon and arguments reach 5e6.
TEST(Fire, IsTheNetworkOfTheArgumentInAnyTile) {
  for (const double c : {0.1, -2.0, 1e-9}) {
    for (const char* threshold : {"0", "5", "100"}) {
      testing::Asked asked(40, 3, {{"hidden", "8"}, {"threshold", threshold}});
      const SchemeWeights weights = some_weights(c, -1.2);
      asked.request.weights = &weights;
      testing::expect_pairs(
          *testing::indexed_bias_of("fire", asked.request), 3, 40,
          [&](std::int64_t head, std::int64_t query, std::int64_t key) {
            return plain(weights, std::stod(threshold), head, query, key);
          },
          threshold[0] == '0' ? 0x1p-20 : 0x1p-45);
    }
  }
}

TEST(Fire, TakesAnyIds) {
  List far = testing::kOddIds;
  far.push_back(std::int64_t{1} << 53);
  far.push_back(-(std::int64_t{1} << 40));
  for (const List& ids : {testing::kOddIds, far}) {
    testing::Asked asked(ids, 3, {{"hidden", "8"}, {"threshold", "4"}});
    const SchemeWeights weights = some_weights(0.3, 1);
    asked.request.weights = &weights;
    testing::expect_pairs(
        *testing::indexed_bias_of("fire", asked.request), 3, static_cast<std::int64_t>(ids.size()),
        [&](std::int64_t head, std::int64_t query, std::int64_t key) {
          return plain(weights, 4, head, ids[static_cast<std::size_t>(query)],
                       ids[static_cast<std::size_t>(key)]);
        },
        // Far keys of near queries have arguments up to 40.
        0x1p-40);
  }
}

// The law: Toeplitz for queries up to L, and only there.
TEST(Fire, DependsOnTheDistanceAloneUpToTheThreshold) {
  const testing::Asked asked(60, 2, {{"threshold", "30"}});
  const Tensor<float> pairs =
      testing::pairs_of(*testing::indexed_bias_of("fire", asked.request), 1, 60);
  for (std::int64_t i = 12; i <= 30; ++i) EXPECT_EQ(pairs(i, i - 12), pairs(12, 0)) << i;
  EXPECT_NE(pairs(50, 38), pairs(12, 0));
}

TEST(Fire, LearnsItsNetworkAndItsScales) {
  List ids;
  for (std::int64_t id = 0; id < 25; ++id) ids.push_back(id);
  for (const List& positions : {ids, testing::kOddIds, List{0, 1, 2, 1000000, 1000001, 5}}) {
    const testing::Asked asked(positions, 3, {{"hidden", "8"}, {"threshold", "9.5"}});
    for (const double sign : {1.0, -1.0}) {
      // Steps of 2^-16 move arguments across few kinks, if any; those bend by weights below 1.
      testing::expect_pair_gradients(
          "fire", asked.request, some_weights(0.2 * sign, 1.25 * sign),
          [&](const SchemeWeights& given, std::int64_t head, std::int64_t query, std::int64_t key) {
            return plain(given, 9.5, head, positions[static_cast<std::size_t>(query)],
                         positions[static_cast<std::size_t>(key)]);
          },
          1e-5);
    }
  }
}

TEST(Fire, GoesByTheIdsThatACallGives) {
  List far = testing::kOddIds;
  far.insert(far.end(), {-7, 100000, 100001, 100002});
  const SchemeWeights given = some_weights(0.3, 1);
  const FireWeights weights{0.3,
                            1,
                            given.at("w1").clone(),
                            given.at("b1").clone(),
                            given.at("w2").clone(),
                            given.at("b2").clone()};
  // Made for one token, it has a table of distance 0 only.
  testing::expect_ids_of_tiles(*fire({.threshold = 4}, weights, List{0}),
                               *fire({.threshold = 4}, weights, far), far);
}

TEST(Fire, StartsFromASeed) {
  const testing::Asked asked(4, 2);
  const SchemeWeights first = find_scheme("fire").initial_weights(asked.request);
  EXPECT_EQ(first.at("c")(0), 0.1);
  EXPECT_EQ(first.at("threshold_multiplier")(0), 1);
  EXPECT_EQ(first.at("w1").shape(), Shape({32}));
  EXPECT_EQ(first.at("w2").shape(), Shape({2, 32}));
}

TEST(Fire, NamesTheArgumentAtFault) {
  EXPECT_THAT(testing::refusal("fire", {{"threshold", "-1"}}), HasSubstr("[fire.threshold]"));
  EXPECT_EQ(testing::refusal("fire", {{"hidden", "0"}}), "[fire.hidden] must be 1 .. 2^16, got 0");
  EXPECT_EQ(testing::refusal("fire", {{"epsilon", "0"}}),
            "[fire.epsilon] must be finite and above 0, got 0");
  EXPECT_THAT(testing::refusal("fire", {{"seed", "-1"}}), HasSubstr("[fire.seed]"));
  EXPECT_THAT(testing::refusal("fire", {}, 0), HasSubstr("[fire.heads]"));
  const auto refused = [](double c, double multiplier, Shape w1, Shape w2, double weight) {
    FireWeights weights{c,
                        multiplier,
                        Tensor<double>(w1),
                        Tensor<double>({4}),
                        Tensor<double>(w2),
                        Tensor<double>({2})};
    for (double& number : weights.w1.span()) number = weight;
    for (double& number : weights.w2.span()) number = weight;
    return error_of([&] { fire({}, weights, List{0, 1}); });
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused(kNaN, 1, {4}, {2, 4}, 1), "[fire.c] must be finite");
  EXPECT_THAT(refused(1, kNaN, {4}, {2, 4}, 1), HasSubstr("[fire.threshold_multiplier]"));
  EXPECT_EQ(refused(1, 1, {3}, {2, 4}, 1), "[fire.w1] must be [4], got [3]");
  EXPECT_THAT(refused(1, 1, {4}, {4}, 1), HasSubstr("[fire.w2] must be [heads, hidden]"));
  EXPECT_THAT(refused(1, 1, {4}, {3, 4}, 1), HasSubstr("[fire.b2]"));
  EXPECT_EQ(refused(1, 1, {4}, {2, 4}, kNaN), "[fire.w2] must be finite");
  EXPECT_THAT(refused(1, 1, {4}, {2, 4}, 1e200), HasSubstr("[fire.w2] must make biases within"));
  const testing::Asked asked(4, 2);
  EXPECT_THAT(error_of([&] {
                find_scheme("fire").backward(asked.request, Tensor<double>({1, 3}));
              }),
              HasSubstr("[fire.gradient]"));
}

}  // namespace
}  // namespace sextant::fire_test
