// Makes TUPE's bias: the correlation of two learned positions, with projections of their own, and
// one number each for the scores from and to a class token (Ke et al. 2021, 2006.15595, equations 7
// and 10).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct Tupe {
  bool separate_cls = true;  // id 0 is a class token, whose row and column are reset
};
// All finite. The rows of table are the ids 0 .. rows - 1, the longest text.
struct TupeWeights {
  Tensor<double> table{};                         // [rows, width]
  Tensor<double> query_weights{}, key_weights{};  // [heads, dim, width]
  Tensor<double> reset{};  // [2, heads]: from the class token to all, from the others to it; not
                           // read without separate_cls
};

// Returns the bias <query_weights table[i], key_weights table[j]> / sqrt(2 dim) of head h, i the id
// of the query, j the key's. With separate_cls it is reset[0, h] if i is 0, else reset[1, h] if j
// is 0. It is computed in float64 and rounded to float32 once, pair by pair.
//
// TUPE divides the product of q and k by sqrt(2 head_dim), too: set the call's scale. Token n of
// the sequence has the id positions[n]: key n, and query n - offset; position ids of the call of
// attention() replace the list. Calls with more tokens, other heads or ids without a row are
// refused. Throws Error if a shape is wrong or an id has no row.
std::shared_ptr<const ScoreTerm> tupe(const Tupe& options, const TupeWeights& weights,
                                      std::span<const std::int64_t> positions);

// Returns the gradient of the weights from that of attention_backward(), [1, 2 heads (rows dim +
// 1)]: of the projected queries, of the projected keys and of reset.
TupeWeights tupe_backward(const Tupe& options, const TupeWeights& weights,
                          View<const double> gradient);

}  // namespace sextant
