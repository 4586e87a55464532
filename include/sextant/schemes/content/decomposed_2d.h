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
std::shared_ptr<const ScoreTerm> decomposed_2d(const Decomposed2d& options,
                                               const Decomposed2dWeights& weights,
                                               std::span<const std::int64_t> positions);

// Returns the gradients of the tables from the term's gradient of attention_backward(), [1,
// parameters].
Decomposed2dWeights decomposed_2d_backward(const Decomposed2dWeights& weights,
                                           View<const double> gradient);

}  // namespace sextant
