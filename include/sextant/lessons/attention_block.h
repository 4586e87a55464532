// Implements a residual attention block (Vaswani et al. 2017, section 3.1), norm(x + attention(x)),
// and keeps its attention weights.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/core/names.h"
#include "sextant/core/random.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/norm.h"
#include "sextant/lessons/heads.h"

namespace sextant {

enum class AttentionBlockKind {
  cross,   // queries from x, keys and values from a context
  global,  // all from x: every token sees every other
  causal,  // all from x: a token sees itself and earlier tokens
};
std::string_view name_of(AttentionBlockKind kind) noexcept;

template <class T>
struct AttentionBlock {
  AttentionBlockKind kind;
  MultiHead<T> attention;
  Norm<T> norm;

  // Makes a block; width must be a multiple of heads.
  AttentionBlock(AttentionBlockKind kind, std::int64_t width, std::int64_t heads,
                 NumpyRandom& random);

  struct Result {
    Tensor<T> output;   // [batch, length, width]
    Tensor<T> weights;  // [batch, heads, length, k_len], rows sum to one
  };
  // x: [batch, length, width]; context: [batch, k_len, width] for cross, else empty. key_mask:
  // padding_mask() of the keys' tokens, [batch, 1, 1, k_len]; empty: no padding. Throws Error for
  // shapes that do not fit and for a missing or unused context.
  Result operator()(View<const T> x, View<const T> context = {},
                    View<const bool> key_mask = {}) const;
};

}  // namespace sextant
