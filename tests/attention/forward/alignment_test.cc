// Masks and positions, drawn: the grids of docs/attention.md. Rows are queries, columns keys, #
// visible.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sextant/attention/attention.h"

namespace sextant {
namespace {

using Grid = std::vector<std::string>;

Grid visible(std::int64_t q_len, std::int64_t k_len, const AttentionOptions<float>& options) {
  const Tensor<float> q(Shape{1, 1, q_len, 1}), k(Shape{1, 1, k_len, 1});
  const auto biased = attention_weights(q, k, options, {.stage = Stage::biased});
  Grid grid;
  for (std::int64_t i = 0; i < q_len; ++i) {
    grid.emplace_back();
    for (std::int64_t j = 0; j < k_len; ++j)
      grid.back() += std::isinf(biased(0, 0, i, j)) ? '.' : '#';
  }
  return grid;
}

TEST(AttentionAlignment, TopLeftStartsAtTheFirstKey) {
  EXPECT_EQ(visible(3, 5, {.causal = Causal::top_left}), (Grid{"#....",  //
                                                               "##...",  //
                                                               "###.."}));
  EXPECT_EQ(visible(5, 3, {.causal = Causal::top_left}), (Grid{"#..", "##.", "###", "###", "###"}));
}

TEST(AttentionAlignment, BottomRightEndsAtTheLastKey) {
  EXPECT_EQ(visible(3, 5, {.causal = Causal::bottom_right}), (Grid{"###..",  //
                                                                   "####.",  //
                                                                   "#####"}));
  // More queries than keys: the first ones see nothing.
  EXPECT_EQ(visible(5, 3, {.causal = Causal::bottom_right}),
            (Grid{"...", "...", "#..", "##.", "###"}));
}

TEST(AttentionAlignment, BothAreTheSameForASquare) {
  EXPECT_EQ(visible(4, 4, {.causal = Causal::top_left}),
            visible(4, 4, {.causal = Causal::bottom_right}));
}

TEST(AttentionAlignment, OffsetsPlaceTheFirstQuery) {
  std::vector<std::int64_t> offset{1};
  EXPECT_EQ(visible(3, 5, {.causal = Causal::at_offsets, .query_offsets = offset}),
            (Grid{"##...",  //
                  "###..",  //
                  "####."}));
  offset = {-2};
  EXPECT_EQ(visible(3, 5, {.causal = Causal::at_offsets, .query_offsets = offset}),
            (Grid{".....",  //
                  ".....",  //
                  "#...."}));
  // Far outside on either side: nothing, or everything, without overflow.
  offset = {-(std::int64_t{1} << 60)};
  EXPECT_EQ(visible(1, 2, {.causal = Causal::at_offsets, .query_offsets = offset}), (Grid{".."}));
  offset = {std::int64_t{1} << 60};
  EXPECT_EQ(visible(1, 2, {.causal = Causal::at_offsets, .query_offsets = offset}), (Grid{"##"}));
  EXPECT_EQ(
      visible(1, 2, {.causal = Causal::at_offsets, .query_offsets = offset, .window = {3, 0}}),
      (Grid{".."}));
}

TEST(AttentionAlignment, WindowsDoNotCountTheOwnKey) {
  EXPECT_EQ(visible(5, 5, {.window = {1, 2}}), (Grid{"###..",  //
                                                     "####.",  //
                                                     ".####",  //
                                                     "..###",  //
                                                     "...##"}));
  EXPECT_EQ(visible(3, 3, {.window = {0, 0}}), (Grid{"#..", ".#.", "..#"}));
  EXPECT_EQ(visible(3, 3, {.window = {-1, 0}}), visible(3, 3, {.causal = Causal::top_left}));
}

TEST(AttentionAlignment, WindowsFollowTheAlignment) {
  EXPECT_EQ(visible(2, 5, {.causal = Causal::bottom_right, .window = {1, -1}}), (Grid{"..##.",  //
                                                                                      "...##"}));
  EXPECT_EQ(visible(2, 5, {.causal = Causal::none, .window = {1, 1}}), (Grid{"##...",  //
                                                                             "###.."}));
  // Not causal, yet aligned at the end.
  const std::vector<std::int64_t> offset{3};
  EXPECT_EQ(visible(2, 5, {.query_offsets = offset, .window = {1, 1}}), (Grid{"..###",  //
                                                                              "...##"}));
}

TEST(AttentionAlignment, KeyLengthsCutColumnsAndMoveNoDiagonal) {
  const std::vector<std::int64_t> length{4};
  EXPECT_EQ(visible(3, 5, {.causal = Causal::bottom_right, .key_lengths = length}),
            (Grid{"###..",  //
                  "####.",  //
                  "####."}));
}

TEST(AttentionAlignment, OfLengthsEndsAtTheLastKeyThatIsNoPadding) {
  const std::vector<std::int64_t> length{4}, short_length{2}, none{0};
  EXPECT_EQ(visible(3, 5, {.causal = Causal::at_lengths, .key_lengths = length}),
            (Grid{"##...",  //
                  "###..",  //
                  "####."}));
  EXPECT_EQ(visible(3, 5, {.causal = Causal::at_lengths, .key_lengths = short_length}),
            (Grid{".....",  //
                  "#....",  //
                  "##..."}));
  EXPECT_EQ(visible(2, 3, {.causal = Causal::at_lengths, .key_lengths = none}),
            (Grid{"...", "..."}));
  // Windows count from there too.
  EXPECT_EQ(visible(3, 5, {.causal = Causal::at_lengths, .window = {1, -1}, .key_lengths = length}),
            (Grid{"##...",  //
                  ".##..",  //
                  "..##."}));
}

TEST(AttentionAlignment, MasksIntersectAndKeepWhatIsTrue) {
  Tensor<bool> mask(Shape{3});
  mask(0) = mask(2) = true;
  AttentionOptions<float> options{.causal = Causal::top_left};
  options.mask = mask;
  EXPECT_EQ(visible(3, 3, options), (Grid{"#..",  //
                                          "#..",  //
                                          "#.#"}));
}

}  // namespace
}  // namespace sextant
