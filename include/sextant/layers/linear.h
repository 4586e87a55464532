// Implements a linear map, y = x W^T + b.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/core/tensor.h"
#include "sextant/layers/first_weights.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/weight_matrix.h"

namespace sextant {

template <class T>
struct Linear {
  WeightMatrix<T> weight;  // [out, in]
  Tensor<T> bias;          // [out], or empty

  // Draws weights uniform in +-1/sqrt(in), weight first, then bias, row by row, from the
  // generator's stream.
  static Linear random(std::int64_t in, std::int64_t out, FirstWeights weights,
                       bool with_bias = true);
  // Draws weights uniform in +-gain sqrt(6 / (in + out)), with no bias or one of zeros (Glorot and
  // Bengio 2010): the initial weights of trained layers.
  static Linear glorot(std::int64_t in, std::int64_t out, FirstWeights weights,
                       bool with_bias = true, double gain = 1);

  // Returns [rows, out] for x [rows, in], with sums in float64, rounded once.
  Tensor<T> operator()(View<const T> x) const;

  // Computes y [rows, out] of x [rows, in], contiguous, for training, with sums in T.
  void forward(View<const T> x, View<T> y, const Pass& pass) const;
  // Takes dy [rows, out]; overwrites dx (empty: not computed) and adds to the gradient.
  void backward(View<const T> x, View<const T> dy, View<T> dx, Linear& gradient,
                const Pass& pass) const;
  // prefix + "weight", prefix + "bias".
  void append_parameters(Parameters<T>& to, const std::string& prefix);
};

}  // namespace sextant
