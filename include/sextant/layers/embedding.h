// Token embeddings with positions: look up, scale by sqrt(width), add the table; padding has a
// zero row and a mask.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sextant/core/tensor.h"
#include "sextant/layers/first_weights.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"

namespace sextant {

// A table of token vectors. Row `padding` (if any) is zero.
template <class T>
class Embedding {
 public:
  Embedding(Tensor<T> table, std::optional<std::int64_t> padding = std::nullopt);
  // Normal(0, 1) / sqrt(width) weights from a seeded generator.
  static Embedding random(std::int64_t tokens, std::int64_t width, FirstWeights weights,
                          std::optional<std::int64_t> padding = std::nullopt);

  std::int64_t tokens() const noexcept { return table_.size(0); }
  std::int64_t width() const noexcept { return table_.size(1); }
  const Tensor<T>& table() const noexcept { return table_; }
  Tensor<T>& table() noexcept { return table_; }
  std::optional<std::int64_t> padding() const noexcept { return padding_; }

  // indices [length] -> [length, width], times `scale`. Throws Error for an index outside 0 ..
  // tokens() - 1.
  Tensor<T> operator()(std::span<const std::int64_t> indices, double scale = 1) const;
  // indices [batch, length] -> [batch, length, width].
  Tensor<T> operator()(View<const std::int64_t> indices, double scale = 1) const;

  // For training: y [length, width] is row indices[i] times `scale`, indices checked by the caller.
  void forward(std::span<const std::int64_t> indices, double scale, View<T> y,
               const Pass& pass) const;
  // gradient.table() row indices[i] += scale dy row i; that of the padding stays as it is.
  void backward(std::span<const std::int64_t> indices, double scale, View<const T> dy,
                Embedding& gradient, const Pass& pass) const;
  // prefix + "weight": the table, which weight decay leaves alone.
  void append_parameters(Parameters<T>& to, const std::string& prefix);

 private:
  Tensor<T> table_;
  std::optional<std::int64_t> padding_;
};

struct EmbedOptions {
  std::optional<double> scale = {};  // factor of the embedding; unset: sqrt(width)
  // The position of each token, [batch, length]: for padding on the left, or sentences packed into
  // one row. Without it the n-th token of every row is at position n.
  std::optional<View<const std::int64_t>> position_ids;
  std::int64_t offset = 0;  // added to every position, >= 0: how much came before, while decoding
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// The positional embedding layer (Vaswani et al. 2017, sections 3.4 and 3.5): embedding(indices) *
// scale + positions, in one pass. indices: [batch, length] -> [batch, length, width];
// positions: [rows, width], of which row p belongs to position p. Each value is computed in
// float64, the product rounded before the sum, and rounded to T once, so within 0.5 units and
// 2^-52 of the two terms. Throws Error for an index outside the embedding, a position outside 0 ..
// rows - 1, shapes that do not fit.
template <class T>
Tensor<T> embed_with_positions(const Embedding<T>& embedding, View<const std::int64_t> indices,
                               View<const T> positions, const EmbedOptions& options = {});

// The mask that hides padding keys: [batch, 1, 1, length], true where indices != padding; fits
// AttentionOptions::mask.
Tensor<bool> padding_mask(View<const std::int64_t> indices, std::int64_t padding);

}  // namespace sextant
