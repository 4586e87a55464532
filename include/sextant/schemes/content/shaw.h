// Makes Shaw's relative positions (Shaw et al. 2018, 1803.02155): learned vectors by clipped
// distance, added to keys and values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct Shaw {
  std::int64_t max_distance = 16;  // K, 0 .. 2^20: larger distances count as this
};
// [2K + 1, head_dim], shared by the heads, or [heads, 2K + 1, head_dim]; finite.
struct ShawWeights {
  Tensor<double> key_table{};
  Tensor<double> value_table{};  // its last axis is v_dim; empty: nothing is added to values
};

// Returns the term: score(i, j) += scale <q_i, key_table[r]> and value_j += value_table[r] with r =
// clip(j - i, -K, K) + K (equations 3 and 4), for attention's options.terms. positions: the ids of
// tokens 0, 1, ...; within +-2^53; empty: 0, 1, ... Throws Error if an option, a shape or a number
// is wrong.
std::shared_ptr<const ScoreTerm> shaw(const Shaw& options, const ShawWeights& weights,
                                      std::span<const std::int64_t> positions = {});

// Returns the gradients of the weights from the term's gradient of attention_backward(), [1,
// parameters].
ShawWeights shaw_backward(const Shaw& options, const ShawWeights& weights,
                          View<const double> gradient);

}  // namespace sextant
