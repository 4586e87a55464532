// y = x W^T + b.
#pragma once

#include <cstdint>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"

namespace sextant {

template <class T>
struct Linear {
  Tensor<T> weight;  // [out, in]
  Tensor<T> bias;    // [out], or empty

  // Uniform in +-1/sqrt(in), weight first, then bias, row by row, from the generator's stream.
  static Linear random(std::int64_t in, std::int64_t out, NumpyRandom& random,
                       bool with_bias = true);
  // x [rows, in] -> [rows, out].
  Tensor<T> operator()(View<const T> x) const;
};

}  // namespace sextant
