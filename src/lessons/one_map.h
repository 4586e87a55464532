// Attention of one head without batches: what several lessons look at.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"

namespace sextant::lessons {

// q [queries, head_dim], k [keys, head_dim] -> the scores or weights [queries, keys].
inline Tensor<double> one_map(View<const double> q, View<const double> k, Stage stage) {
  const Tensor<double> maps = attention_weights<double>(
      q.split(0, 1).split(0, 1), k.split(0, 1).split(0, 1), {}, {.stage = stage});
  return copy_of(maps.view().select(0, 0).select(0, 0));
}

}  // namespace sextant::lessons
