// Attention written out from the formula, slow and obvious, for tests: every pair of a query and a
// key is looked at, and who may see whom is a predicate.
#pragma once

#include <cstdint>
#include <functional>

#include "sextant/core/tensor.h"

namespace sextant::reference {

// One call. Arrays are dense: q [batch, heads_q, q_len, head_dim], k [batch, kv_heads, k_len,
// head_dim], v [batch, kv_heads, k_len, v_dim].
struct Attention {
  Tensor<double> q, k, v;
  // (sequence, query head, query, key): may the query see the key, and what is added to the score.
  std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> sees;
  std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> added;
  double scale = 1;
  double softcap = 0;
  // (sequence, query head, query, key): what a weight is multiplied by after the softmax; empty: 1.
  std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> kept;
};

// Dropout of a rate by the operator's rule: 1 / (1 - rate), or 0 where the number of Philox 4x32-10
// for (key, query, sequence x heads + head) is below rate 2^32.
double kept_weight(double rate, std::uint64_t seed, std::int64_t sequence_head, std::int64_t query,
                   std::int64_t key);

// Every intermediate result, [batch, heads_q, q_len, k_len], and the output [batch, heads_q, q_len,
// v_dim]. Finite inputs only, but `added` may be -infinity: that hides.
struct AttentionResult {
  Tensor<double> scores, capped, biased, probabilities, output;
  double largest_score = 0;  // sum |q_d k_d| |scale| + |added|: what rounding errors scale with
};

AttentionResult attend(const Attention& call);

}  // namespace sextant::reference
