// TUPE: products of projected positions, the class token's two numbers, gradients, and errors.
#include "sextant/schemes/indexed/tupe.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::tupe_test {
namespace {

using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

TupeWeights drawn_weights(std::int64_t rows) {
  return {testing::drawn({rows, 3}, 1), testing::drawn({2, 4, 3}, 2), testing::drawn({2, 4, 3}, 3),
          testing::drawn({2, 2}, 4)};
}

// The paper's equations: (p_i U_Q)(p_j U_K) / sqrt(2 d), reset by theta_1 and theta_2.
double plain(const SchemeWeights& w, bool separate_cls, std::int64_t head, std::int64_t i,
             std::int64_t j) {
  if (separate_cls && i == 0) return w.at("reset")(0, head);
  if (separate_cls && j == 0) return w.at("reset")(1, head);
  const Tensor<double>& table = w.at("table");
  const Tensor<double>& uq = w.at("query_weights");
  const Tensor<double>& uk = w.at("key_weights");
  double sum = 0;
  for (std::int64_t c = 0; c < uq.size(1); ++c) {
    for (std::int64_t m = 0; m < table.size(1); ++m) {
      for (std::int64_t n = 0; n < table.size(1); ++n) {
        sum += table(i, m) * uq(head, c, m) * uk(head, c, n) * table(j, n);
      }
    }
  }
  return sum / std::sqrt(2.0 * static_cast<double>(uq.size(1)));
}

SchemeWeights named(const TupeWeights& weights) {
  SchemeWeights by_name;
  by_name.emplace("table", weights.table.clone());
  by_name.emplace("query_weights", weights.query_weights.clone());
  by_name.emplace("key_weights", weights.key_weights.clone());
  by_name.emplace("reset", weights.reset.clone());
  return by_name;
}

TEST(Tupe, AddsProductsOfProjectedPositionsAndResetsTheClassToken) {
  const TupeWeights weights = drawn_weights(33);
  const SchemeWeights by_name = named(weights);
  for (const bool separate_cls : {false, true}) {
    testing::expect_pairs(
        *tupe({separate_cls}, weights, testing::kOddIds), 2, 15,
        [&](std::int64_t head, std::int64_t query, std::int64_t key) {
          return plain(by_name, separate_cls, head,
                       testing::kOddIds[static_cast<std::size_t>(query)],
                       testing::kOddIds[static_cast<std::size_t>(key)]);
        },
        0x1p-40);  // two orders of a sum of 36 products below 1
  }
}

// One channel of width 1: p_i p_j / sqrt(2), and the class token's numbers around it.
TEST(Tupe, OfOneChannelIsAProduct) {
  TupeWeights weights{Tensor<double>({3, 1}), Tensor<double>({1, 1, 1}), Tensor<double>({1, 1, 1}),
                      Tensor<double>({2, 1})};
  for (std::int64_t row = 0; row < 3; ++row) weights.table(row, 0) = static_cast<double>(row + 1);
  weights.query_weights.data()[0] = weights.key_weights.data()[0] = std::sqrt(std::sqrt(2.0));
  weights.reset(0, 0) = 10;
  weights.reset(1, 0) = 20;
  const Tensor<float> pairs = testing::pairs_of(*tupe({}, weights, List{0, 1, 2}), 0, 3);
  EXPECT_THAT(std::vector<float>(pairs.span().begin(), pairs.span().end()),
              ::testing::Pointwise(::testing::FloatEq(), {10, 10, 10, 20, 4, 6, 20, 6, 9}));
}

TEST(Tupe, GoesByTheIdsThatACallGives) {
  const TupeWeights weights = drawn_weights(33);
  testing::expect_ids_of_tiles(*tupe({}, weights, List{0}), *tupe({}, weights, testing::kOddIds),
                               testing::kOddIds);
}

TEST(Tupe, LearnsItsTableItsProjectionsAndTheResets) {
  for (const bool separate_cls : {false, true}) {
    testing::Asked asked(List{0, 1, 2, 3, 5, 1, 0}, 2,
                         {{"max_length", "6"},
                          {"position_width", "3"},
                          {"position_dim", "4"},
                          {"separate_cls", separate_cls ? "yes" : "no"}});
    const SchemeWeights weights = named(drawn_weights(6));
    const List ids(asked.request.positions.begin(), asked.request.positions.end());
    testing::expect_pair_gradients(
        "tupe", asked.request, weights,
        [&](const SchemeWeights& given, std::int64_t head, std::int64_t query, std::int64_t key) {
          return plain(given, separate_cls, head, ids[static_cast<std::size_t>(query)],
                       ids[static_cast<std::size_t>(key)]);
        });
  }
}

TEST(Tupe, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("tupe", {{"max_length", "0"}}),
            "[tupe.max_length] must be 1 .. 2^20, got 0");
  EXPECT_THAT(testing::refusal("tupe", {{"position_width", "0"}}),
              HasSubstr("[tupe.position_width]"));
  EXPECT_THAT(testing::refusal("tupe", {{"position_dim", "0"}}), HasSubstr("[tupe.position_dim]"));
  EXPECT_THAT(testing::refusal("tupe", {{"separate_cls", "perhaps"}}),
              HasSubstr("[tupe.separate_cls] must be yes or no"));
  EXPECT_THAT(testing::refusal("tupe", {}, 0), HasSubstr("[tupe.heads]"));
  EXPECT_EQ(testing::refusal("tupe", {{"max_length", "3"}}),
            "[tupe.positions] must be rows of the table, 0 .. 2, got 3");
  const TupeWeights weights = drawn_weights(6);
  EXPECT_THAT(error_of([&] { tupe({}, weights, List{-1}); }), HasSubstr("0 .. 5, got -1"));
  const auto with = [&](const std::string& name, Tensor<double> instead) {
    TupeWeights changed = drawn_weights(6);
    (name == "table"           ? changed.table
     : name == "query_weights" ? changed.query_weights
     : name == "key_weights"   ? changed.key_weights
                               : changed.reset) = std::move(instead);
    return error_of([&] { tupe({}, changed, List{0}); });
  };
  EXPECT_THAT(with("table", Tensor<double>({6})), HasSubstr("[tupe.table] must be"));
  EXPECT_THAT(with("table", Tensor<double>({0, 3})), HasSubstr("at least one number"));
  EXPECT_THAT(with("query_weights", Tensor<double>({2, 4, 5})),
              HasSubstr("[tupe.query_weights] must be [heads, position_dim, 3], got [2, 4, 5]"));
  EXPECT_THAT(with("key_weights", Tensor<double>({2, 5, 3})),
              HasSubstr("[tupe.key_weights] must be [2, 4, 3], as query_weights, got [2, 5, 3]"));
  EXPECT_THAT(with("reset", Tensor<double>({2, 3})), HasSubstr("[tupe.reset] must be [2, 2]"));
  Tensor<double> bad({2, 2});
  bad(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(with("reset", std::move(bad)), "[tupe.reset] must be finite");
  EXPECT_THAT(error_of([&] {
                tupe_backward({}, weights, Tensor<double>({1, 4}));
              }),
              HasSubstr("[tupe.gradient] must be [1, 100]"));
  EXPECT_EQ(find_scheme("tupe").max_length(SchemeRequest{}), 512);
}

}  // namespace
}  // namespace sextant::tupe_test
