// Makes the term of DeBERTa's disentangled attention (He et al. 2020, 2006.03654; v3 2111.09543):
// products of queries with key positions and of keys with query positions, by log-bucketed
// distance.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct Deberta {
  // Even, 2 .. 2^20 (v2, v3: 256); 0: one bucket per distance, up to max_position (v1).
  std::int64_t position_buckets = 256;
  std::int64_t max_position = 512;  // > position_buckets / 2 + 1, at most 2^20
};
// The projected position embeddings, [heads, 2s, head_dim] or [2s, head_dim]; finite.
struct DebertaWeights {
  Tensor<double> query_table{}, key_table{};
};

// Returns s, half the rows of a table.
std::int64_t deberta_span(const Deberta& options);

// Returns the row of a pair in both tables, 0 .. 2s - 1, by distance = query - key: clamp(bucket +
// s), where bucket is the distance itself up to b / 2 and sign ceil(ln(|d| / (b / 2)) /
// ln((max_position - 1) / (b / 2)) (b / 2 - 1) + b / 2) beyond. The released code uses it for both
// terms, unlike the paper's equation 4.
std::int64_t deberta_row(std::int64_t distance, const Deberta& options = {});

// Returns the term: score(i, j) += scale (<q_i, key_table[r]> + <k_j, query_table[r]>), c2p and
// p2c, with r of i - j; the default scale of a call is 1 / sqrt(3 head_dim). positions: the ids of
// tokens 0, 1, ...; within +-2^53; empty: 0, 1, ... Throws Error if an option, a shape or a number
// is wrong.
std::shared_ptr<const ScoreTerm> deberta(const Deberta& options, const DebertaWeights& weights,
                                         std::span<const std::int64_t> positions = {});

// Returns the gradients of the weights from the term's gradient of attention_backward(), [1,
// parameters].
DebertaWeights deberta_backward(const Deberta& options, const DebertaWeights& weights,
                                View<const double> gradient);

}  // namespace sextant
