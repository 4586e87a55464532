// Embeds tokens with positions: looks up vectors, scales them by sqrt(width) and adds the table;
// padding has a zero row and a mask.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sextant/core/tensor.h"
#include "sextant/layers/first_weights.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/weight_matrix.h"

namespace sextant {

// Holds a table of token vectors. Row `padding` (if any) is zero.
template <class T>
class Embedding {
 public:
  Embedding(WeightMatrix<T> table, std::optional<std::int64_t> padding = std::nullopt);
  // Makes weights from normal(0, 1) / sqrt(width) with a seeded generator.
  static Embedding random(std::int64_t tokens, std::int64_t width, FirstWeights weights,
                          std::optional<std::int64_t> padding = std::nullopt);

  std::int64_t tokens() const noexcept { return table_.size(0); }
  std::int64_t width() const noexcept { return table_.size(1); }
  const WeightMatrix<T>& table() const noexcept { return table_; }
  WeightMatrix<T>& table() noexcept { return table_; }
  std::optional<std::int64_t> padding() const noexcept { return padding_; }

  // Returns [length, width] for indices [length], times `scale`. Throws Error for an index outside
  // 0 .. tokens() - 1.
  Tensor<T> operator()(std::span<const std::int64_t> indices, double scale = 1) const;
  // Returns [batch, length, width] for indices [batch, length].
  Tensor<T> operator()(View<const std::int64_t> indices, double scale = 1) const;

  // Computes y [length, width] for training: row indices[i] times `scale`. The caller checks the
  // indices.
  void forward(std::span<const std::int64_t> indices, double scale, View<T> y,
               const Pass& pass) const;
  // Adds scale dy row i to row indices[i] of gradient.table(); the row of the padding is unchanged.
  void backward(std::span<const std::int64_t> indices, double scale, View<const T> dy,
                Embedding& gradient, const Pass& pass) const;
  // Appends prefix + "weight": the table, to which weight decay does not apply.
  void append_parameters(Parameters<T>& to, const std::string& prefix);

 private:
  WeightMatrix<T> table_;
  std::optional<std::int64_t> padding_;
};

struct EmbedOptions {
  std::optional<double> scale = {};  // factor of the embedding; unset: sqrt(width)
  // The position of each token, [batch, length], for padding on the left, or sentences packed into
  // one row. By default the n-th token of every row is at position n.
  std::optional<View<const std::int64_t>> position_ids;
  // Added to every position, >= 0: the number of earlier tokens while decoding.
  std::int64_t offset = 0;
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Computes the positional embedding layer (Vaswani et al. 2017, sections 3.4 and 3.5):
// embedding(indices) * scale + positions, in one pass. indices: [batch, length] -> [batch, length,
// width]; positions: [rows, width], with row p for position p. Each value is computed in float64,
// the product rounded before the sum, and rounded to T once, so it is within 0.5 units and 2^-52 of
// the two terms. Throws Error for an index outside the embedding, a position outside 0 .. rows - 1,
// and shapes that do not fit.
template <class T>
Tensor<T> embed_with_positions(const Embedding<T>& embedding, View<const std::int64_t> indices,
                               View<const T> positions, const EmbedOptions& options = {});

// Returns the mask that hides padding keys: [batch, 1, 1, length], true if indices != padding; it
// fits AttentionOptions::mask.
Tensor<bool> padding_mask(View<const std::int64_t> indices, std::int64_t padding);

}  // namespace sextant
