// Makes BERT's relative keys: a learned vector for every distance up to the longest text,
// multiplied with queries, and with keys too (Huang et al. 2020, 2009.13658, methods 2 and 4).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct RelativeKey {
  std::int64_t max_position = 512;  // 1 .. 2^20: distances are below it
  bool with_keys = false;           // relative_key_query: keys are multiplied too
};
struct RelativeKeyWeights {
  // [2 max_position - 1, head_dim], shared by the heads, or [heads, ...]; finite. Row n is of query
  // - key = n - max_position + 1: Hugging Face's distance_embedding.weight as it is.
  Tensor<double> table{};
};

// Returns the term: score(i, j) += scale <q_i, table[r]>, and with_keys scale <k_j, table[r]> more,
// with r = i - j + max_position - 1, for attention's options.terms. positions: the ids of tokens 0,
// 1, ...; within +-2^53; empty: 0, 1, ... Throws Error if an option, a shape or a number is wrong,
// and if ids are max_position or more apart; calls with longer texts are refused.
std::shared_ptr<const ScoreTerm> relative_key(const RelativeKey& options,
                                              const RelativeKeyWeights& weights,
                                              std::span<const std::int64_t> positions = {});

// Returns the gradient of the table from the term's gradient of attention_backward(), [1,
// parameters].
RelativeKeyWeights relative_key_backward(const RelativeKey& options,
                                         const RelativeKeyWeights& weights,
                                         View<const double> gradient);

}  // namespace sextant
