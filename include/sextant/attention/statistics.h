// Computes statistics of attention weights without storing the weights, for inputs of any length:
// the entropy of each row, its largest weights, the total weight of each key.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sextant/attention/attention.h"

namespace sextant {

// Selects the statistics to compute; the others stay empty.
struct StatisticsOptions {
  std::int64_t top = 5;  // number of keys to list per row, 0 .. 1024; 0: none
  bool entropy = true;
  bool log_sum_exp = true;
  bool mass = true;
};

struct WeightStatistics {
  // [batch, heads_q, q_len], in nats: -sum(p ln p) over the keys; 0 for a row with one key or none,
  // ln n for n equal weights. A sink takes a share of p but adds no term.
  Tensor<float> entropy;
  // [batch, heads_q, q_len]: log(sum(exp(scores))), with the sink; -infinity for rows without
  // visible keys. The bits are those of attention().
  Tensor<float> log_sum_exp;
  // [batch, heads_q, q_len, top]: the keys with the largest weights and these weights, largest
  // first, ties by the lower key. -1 and 0 if fewer keys have a weight above 0.
  Tensor<std::int64_t> top_keys;
  Tensor<float> top_weights;
  // [batch, heads_q, k_len]: the sum of the key's weights over all queries.
  Tensor<float> mass;
};

// Computes statistics of the probabilities that attention_weights() returns for q [batch, heads_q,
// q_len, head_dim] and k [batch, kv_heads, k_len, head_dim], before they are rounded to T. The time
// is that of two products of q and k. The memory is the result and, per thread, some blocks and 16
// numbers per key; nothing grows with q_len x k_len. A row with a visible NaN has NaN everywhere
// and no top keys. The bits of a row depend on the same data as those of attention(); those of
// `mass` on all rows of the head, not on threads. Options and errors are those of attention().
template <AttentionElement T>
WeightStatistics attention_statistics(View<const T> q, std::type_identity_t<View<const T>> k,
                                      const AttentionOptions<std::type_identity_t<T>>& options = {},
                                      const StatisticsOptions& wanted = {});

// Computes the same from a tensor.
template <AttentionElement T>
WeightStatistics attention_statistics(const Tensor<T>& q, std::type_identity_t<View<const T>> k,
                                      const AttentionOptions<std::type_identity_t<T>>& options = {},
                                      const StatisticsOptions& wanted = {}) {
  return attention_statistics<T>(q.view(), k, options, wanted);
}

}  // namespace sextant
