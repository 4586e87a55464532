// Implements what learning and decoding of the pointer share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "layers/ops.h"

namespace sextant::layers {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Softmax of q k^T / sqrt(width), [rows, keys], on this thread.
template <class T>
void copy_attention(View<const T> q, View<const T> k, View<T> weights) {
  ops::linear<T>(q, k, nullptr, weights, 1);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(1)));
  for (std::int64_t i = 0; i < weights.size(0); ++i) {
    double most = -std::numeric_limits<double>::infinity(), total = 0;
    for (std::int64_t j = 0; j < weights.size(1); ++j) {
      most = std::max(most, static_cast<double>(weights(i, j)));
    }
    for (std::int64_t j = 0; j < weights.size(1); ++j) {
      const double part = std::exp(scale * (static_cast<double>(weights(i, j)) - most));
      weights(i, j) = static_cast<T>(part);
      total += part;
    }
    for (std::int64_t j = 0; j < weights.size(1); ++j) {
      weights(i, j) = static_cast<T>(static_cast<double>(weights(i, j)) / total);
    }
  }
}

}  // namespace sextant::layers
