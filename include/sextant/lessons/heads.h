// Implements attention over tokens: one head with freely chosen widths, or many heads with an
// output projection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/core/random.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/embedding.h"
#include "sextant/layers/linear.h"
#include "sextant/schemes/added/position_table.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

// The result of a head: the attention map and the new representations.
template <class T>
struct HeadsResult {
  Tensor<T> weights;  // [heads, q_len, k_len]
  Tensor<T> output;   // [q_len, output width]
};

struct SingleHeadOptions {
  std::int64_t tokens = 0;  // rows of the embedding
  std::int64_t width = 0;   // width of embeddings and positions
  std::int64_t qk_dim = 0;  // channels of queries and keys; 0: width
  std::int64_t v_dim = 0;   // channels of values; 0: width
  // True: embeddings are drawn from normal(0, 1) / sqrt(width) and multiplied by sqrt(width)
  // (Vaswani et al. 2017, section 3.4); false: they are drawn from normal(0, 1).
  bool scale_embedding = false;
  bool output_projection = false;  // a projection of the mixed values, [v_dim] -> [width]
  std::uint32_t seed = 0;          // seed of the weights
};

// One head: embedding table, linear maps with bias, sinusoidal positions added first; the table
// grows on demand, the causal mask is optional.
template <class T>
struct SingleHead {
  SingleHeadOptions options;  // sizes that were 0 are filled in
  Embedding<T> embedding;
  Linear<T> to_q, to_k, to_v;       // widths qk_dim, qk_dim, v_dim
  std::optional<Linear<T>> to_out;  // [width, v_dim]
  PositionTable<T> positions;

  // Draws the weights in the order above from one generator. Throws Error for sizes that are not
  // positive.
  explicit SingleHead(const SingleHeadOptions& options);
  // Runs indices: [length] token numbers. Throws Error for an index outside the table or an empty
  // sentence.
  HeadsResult<T> operator()(std::span<const std::int64_t> indices, bool causal = false);
  // Runs x: [length, width], vectors without embedding and positions. Throws Error for another
  // shape or no row.
  HeadsResult<T> of_vectors(View<const T> x, bool causal = false) const;

 private:
  SingleHead(const SingleHeadOptions& options, NumpyRandom random);
};

// Many heads: q, k, v projections of the model's width, split into heads, attend, join, output
// projection. The caller adds positions to x, or rotates q and k, or both.
template <class T>
struct MultiHead {
  std::int64_t heads;
  Linear<T> to_q, to_k, to_v, to_out;  // [width, width] each

  // Makes the heads; width must be a multiple of heads.
  MultiHead(std::int64_t width, std::int64_t head_count, NumpyRandom& random);
  // x: [q_len, width] gives the queries, context: [k_len, width] the keys and values (x itself for
  // self attention).
  HeadsResult<T> operator()(View<const T> x, View<const T> context,
                            const AttentionOptions<T>& options = {},
                            const RotationTable<T>* rotation_q = nullptr,
                            const RotationTable<T>* rotation_k = nullptr) const;
};

}  // namespace sextant
