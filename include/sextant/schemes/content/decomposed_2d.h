// Makes decomposed relative positions of an image: one vector by the distance of two patches along
// the rows, one by that along the columns, multiplied with the query (MViTv2: Li et al. 2022,
// 2112.01526, section 4.1; ViTDet and Segment Anything).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct Decomposed2d {
  std::optional<std::int64_t> rows{};     // of patches, 1 .. 2^12; unset: the fewest for all ids
  std::optional<std::int64_t> columns{};  // likewise; a square if both are unset
  // Keys are on a grid of (rows / pooling) x (columns / pooling) (MViTv2). At least 1; divides rows
  // and columns.
  std::int64_t pooling = 1;
  // The same for queries, where these are pooled more than the keys. One of both is 1.
  std::int64_t query_pooling = 1;
};
struct Decomposed2dWeights {
  // [2 rows - 1, head_dim], shared by the heads, or [heads, ...]; finite. Row n is of query's row -
  // key's row = n - rows + 1: Segment Anything's rel_pos_h as it is.
  Tensor<double> row_table{};
  Tensor<double> column_table{};  // [2 columns - 1, head_dim] likewise: rel_pos_w
};

// Returns the term: score(i, j) += <q_i, row_table[y_i - y_j + rows - 1]> + <q_i, column_table[x_i
// - x_j + columns - 1]>, without the scale, for attention's options.terms. positions: the ids of
// tokens 0, 1, ...; patch id is at row y = id / columns and column x = id % columns; a token with
// id -1 (a class token) is outside the image, and its pairs have nothing added. Throws Error if an
// option, a shape or a number is wrong; calls with more tokens are refused.
//
// With a pooling p of keys, queries and keys are different tokens: query i of a call has id
// positions[i], wherever causal or query_offsets put its diagonal key; keys are as many tokens
// outside the image as `positions` begins with, then all patches of the pooled grid. The rows of
// the tables are then (y_j, x_j in the pooled grid) y_i - p y_j + rows - p and x_i - p x_j +
// columns - p. With a query_pooling r, positions are patches of a grid of columns / r columns, and
// the rows r y_i - y_j + rows - 1 and r x_i - x_j + columns - 1.
std::shared_ptr<const ScoreTerm> decomposed_2d(const Decomposed2d& options,
                                               const Decomposed2dWeights& weights,
                                               std::span<const std::int64_t> positions);

// Returns the gradients of the tables from the term's gradient of attention_backward(), [1,
// parameters].
Decomposed2dWeights decomposed_2d_backward(const Decomposed2dWeights& weights,
                                           View<const double> gradient);

}  // namespace sextant
