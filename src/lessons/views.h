// Views and numbers that the small models share.
#pragma once

#include <cmath>
#include <cstdint>

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"

namespace sextant::lessons {

// [length, heads * dim] -> [1, heads, length, dim], the same elements.
template <class T>
View<T> as_heads(View<T> x, std::int64_t heads) {
  return x.split(1, heads).transpose(0, 1).split(0, 1);
}

// [length, dim] -> [1, 1, length, dim], the same elements.
inline View<const double> one_head(View<const double> x) { return x.split(0, 1).split(0, 1); }

// q [queries, head_dim], k [keys, head_dim] -> the scores or weights [queries, keys].
inline Tensor<double> one_map(View<const double> q, View<const double> k, Stage stage,
                              const AttentionOptions<double>& options = {}) {
  const Tensor<double> maps =
      attention_weights<double>(one_head(q), one_head(k), options, {.stage = stage});
  return copy_of(maps.view().select(0, 0).select(0, 0));
}

// Weights [heads, queries, keys] of q and k [1, heads, .., head_dim]: -infinity where the masks or
// biases of `options` hide a pair. `chosen`: of which heads and queries the weights are.
template <class T>
void hide(Tensor<double>& weights, View<const T> q, View<const T> k,
          const AttentionOptions<T>& options, WeightsOptions chosen = {}) {
  chosen.stage = Stage::biased;
  const Tensor<T> scores = attention_weights<T>(q, k, options, chosen);
  for (std::int64_t i = 0; i < weights.count(); ++i) {
    if (scores.data()[i] == -HUGE_VAL) weights.data()[i] = -HUGE_VAL;
  }
}

}  // namespace sextant::lessons
