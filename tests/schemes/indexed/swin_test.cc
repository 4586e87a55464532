// Swin's biases: the published index matrix, windows, and the table's gradient.
#include "sextant/schemes/indexed/swin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::swin_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

// The released code's index, from coordinates.
std::int64_t plain_index(std::int64_t query, std::int64_t key, std::int64_t rows,
                         std::int64_t columns) {
  const std::int64_t down = query / columns - key / columns;
  const std::int64_t across = query % columns - key % columns;
  return (down + rows - 1) * (2 * columns - 1) + (across + columns - 1);
}

TEST(Swin, OfTwoByTwoHasThePublishedIndexMatrix) {
  Tensor<double> table({9, 1});
  for (std::int64_t i = 0; i < 9; ++i) table(i, 0) = static_cast<double>(i);
  const auto bias = swin({2, 2}, {std::move(table)}, List{0, 1, 2, 3});
  const Tensor<float> pairs = testing::pairs_of(*bias, 0, 4);
  EXPECT_THAT(std::vector<float>(pairs.span().begin(), pairs.span().end()),
              ElementsAre(4, 3, 1, 0, 5, 4, 2, 1, 7, 6, 4, 3, 8, 7, 5, 4));
}

TEST(Swin, ReadsTheTableByTheOffsetInAnyTile) {
  const Tensor<double> table = testing::drawn({7 * 9, 3}, 1);
  // All cells, and some in another order: a window in a padded image, say.
  List all, some{7, 8, 9, 0, 0, 4, 5, 6, 19, 18, 10, 11};
  for (std::int64_t id = 0; id < 20; ++id) all.push_back(id);
  for (const List& ids : {all, some}) {
    testing::expect_pairs(*swin({4, 5}, {table.clone()}, ids), 3,
                          static_cast<std::int64_t>(ids.size()),
                          [&](std::int64_t head, std::int64_t query, std::int64_t key) {
                            return table(plain_index(ids[static_cast<std::size_t>(query)],
                                                     ids[static_cast<std::size_t>(key)], 4, 5),
                                         head);
                          });
  }
}

// Toeplitz in each axis, and not in the flattened id: 3 and 4 are neighbours in number only.
TEST(Swin, DependsOnTheOffsetInTwoDimensions) {
  const Tensor<double> table = testing::drawn({49, 1}, 2);
  List ids;
  for (std::int64_t id = 0; id < 16; ++id) ids.push_back(id);
  const Tensor<float> pairs = testing::pairs_of(*swin({4, 4}, {table.clone()}, ids), 0, 16);
  EXPECT_EQ(pairs(5, 6), pairs(9, 10));
  EXPECT_EQ(pairs(0, 9), pairs(5, 14));
  EXPECT_NE(pairs(3, 4), pairs(2, 3));
}

TEST(Swin, FindsTheWindowThatHoldsTheIds) {
  const auto window = [](Swin options, List ids) {
    const Swin found = swin_window(options, ids);
    return List{*found.rows, *found.columns};
  };
  EXPECT_THAT(window({}, {0, 1, 7, 1000}), ElementsAre(32, 32));
  EXPECT_THAT(window({}, {48}), ElementsAre(7, 7));
  EXPECT_THAT(window({}, {49}), ElementsAre(8, 8));
  EXPECT_THAT(window({}, {}), ElementsAre(1, 1));
  EXPECT_THAT(window({.columns = 5}, {10}), ElementsAre(3, 5));
  EXPECT_THAT(window({.rows = 3}, {9}), ElementsAre(3, 4));
  EXPECT_THAT(window({.rows = 2, .columns = 3}, {5}), ElementsAre(2, 3));
}

TEST(Swin, GoesByTheIdsThatACallGivesAndHidesThoseOutsideTheWindow) {
  const SwinWeights weights{testing::drawn({7 * 9, 1}, 1)};
  const List inside{7, 8, 9, 0, 0, 4, 5, 6, 19, 18, 10, 11};
  testing::expect_ids_of_tiles(*swin({4, 5}, weights, List{0}), *swin({4, 5}, weights, inside),
                               inside);
  const List ids{-2, -1, 0, 18, 19, 20, 21};
  const auto bias = swin({4, 5}, weights, List{0});
  std::vector<float> values(49);
  write_term(*bias,
             {.queries = 7, .keys = 7, .query_positions = ids.data(), .key_positions = ids.data()},
             values.data());
  for (std::size_t i = 0; i < 49; ++i) {
    const auto within = [&](std::size_t n) { return ids[n] >= 0 && ids[n] < 20; };
    EXPECT_EQ(std::isfinite(values[i]), within(i / 7) && within(i % 7)) << i;
  }
}

TEST(Swin, LearnsItsTable) {
  testing::Asked asked(List{0, 1, 2, 3, 4, 5, 9, 10, 11, 6}, 2, {{"rows", "3"}, {"columns", "4"}});
  SchemeWeights weights;
  weights.emplace("table", testing::drawn({5 * 7, 2}, 3));
  const List ids(asked.request.positions.begin(), asked.request.positions.end());
  testing::expect_pair_gradients(
      "swin", asked.request, weights,
      [&](const SchemeWeights& given, std::int64_t head, std::int64_t query, std::int64_t key) {
        return given.at("table")(plain_index(ids[static_cast<std::size_t>(query)],
                                             ids[static_cast<std::size_t>(key)], 3, 4),
                                 head);
      });
}

TEST(Swin, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("swin", {{"rows", "1"}, {"columns", "2"}}),
            "[swin.positions] must be 0 .. 1, the cells of 1 x 2, got 3");
  EXPECT_THAT(testing::refusal("swin", {{"rows", "-1"}}), HasSubstr("[swin.rows]"));
  EXPECT_EQ(testing::refusal("swin", {{"rows", "0"}}), "[swin.rows] must be 1 .. 2^28, got 0");
  EXPECT_THAT(testing::refusal("swin", {{"columns", "268435457"}}), HasSubstr("[swin.columns]"));
  EXPECT_THAT(testing::refusal("swin", {{"rows", "65536"}, {"columns", "65536"}}),
              HasSubstr("at most 2^31"));
  EXPECT_THAT(testing::refusal("swin", {{"seed", "-1"}}), HasSubstr("[swin.seed]"));
  EXPECT_THAT(testing::refusal("swin", {}, 0), HasSubstr("[swin.heads]"));
  EXPECT_THAT(error_of([] { swin_window({}, List{-1}); }),
              HasSubstr("[swin.positions] must be cells of a grid"));
  EXPECT_THAT(error_of([] {
                swin({2, 2}, {Tensor<double>({8, 1})}, List{0});
              }),
              HasSubstr("[swin.table] must be [9, heads]"));
  SwinWeights weights{Tensor<double>({9, 1})};
  weights.table(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] { swin({2, 2}, weights, List{0}); }), "[swin.table] must be finite");
  EXPECT_THAT(error_of([] {
                swin_backward({2, 2}, {Tensor<double>({9, 1})}, Tensor<double>({1, 8}));
              }),
              HasSubstr("[swin.gradient] must be [1, 9]"));
  EXPECT_THAT(error_of([] {
                swin_backward({}, {Tensor<double>({1, 1})}, Tensor<double>({1, 1}));
              }),
              HasSubstr("[swin.rows] and columns must be given"));
}

}  // namespace
}  // namespace sextant::swin_test
