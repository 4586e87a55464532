// Token embeddings with positions (C2): look up, scale by sqrt(width), add the table; padding has a
// zero row and a mask.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"

namespace sextant {

// A table of token vectors. Row `padding` (if any) is zero.
template <class T>
class Embedding {
 public:
  Embedding(Tensor<T> table, std::optional<std::int64_t> padding = std::nullopt);
  // Normal(0, 1) / sqrt(width) weights from a seeded generator.
  static Embedding random(std::int64_t tokens, std::int64_t width, NumpyRandom& random,
                          std::optional<std::int64_t> padding = std::nullopt);

  std::int64_t tokens() const noexcept { return table_.size(0); }
  std::int64_t width() const noexcept { return table_.size(1); }
  const Tensor<T>& table() const noexcept { return table_; }
  std::optional<std::int64_t> padding() const noexcept { return padding_; }

  // indices [length] -> [length, width], times `scale`. Throws Error for an index outside 0 ..
  // tokens() - 1.
  Tensor<T> operator()(std::span<const std::int64_t> indices, double scale = 1) const;
  // indices [batch, length] -> [batch, length, width].
  Tensor<T> operator()(View<const std::int64_t> indices, double scale = 1) const;

 private:
  Tensor<T> table_;
  std::optional<std::int64_t> padding_;
};

// The positional embedding layer: embedding(indices) * sqrt(width) + positions; positions: [>=
// length, width].
template <class T>
Tensor<T> embed_with_positions(const Embedding<T>& embedding, View<const std::int64_t> indices,
                               View<const T> positions);

// The mask that hides padding keys: [batch, 1, 1, length], true where indices != padding; fits
// AttentionOptions::mask.
Tensor<bool> padding_mask(View<const std::int64_t> indices, std::int64_t padding);

}  // namespace sextant
