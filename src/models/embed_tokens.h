// Embeds the tokens of all models for a stack, and takes their gradients back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/simd/philox.h"
#include "layers/ops.h"
#include "sextant/layers/embedding.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant::models {

// Tokens that are read, packed; borrowed while a pass lasts.
template <class T>
struct PackedTokens {
  std::span<const std::int64_t> tokens;    // that are here
  std::span<const std::int64_t> segments;  // [sequences + 1], of the batch
  std::int64_t first_row = 0;              // as TokenBatch::first_row
  std::span<const RowRange> rows{};        // of the batch, which the tokens are; empty: all
  View<const T> context{};                 // of a decoder
  std::span<const std::int64_t> context_segments{};
  std::span<const std::int64_t> types{};  // of the tokens that are here; empty: all are 0

  typename TransformerStack<T>::Input input(const PositionTables<T>& positions) const {
    return {segments, context, context_segments, &positions};
  }
};

// Zeros the rows of the tokens that word dropout hides.
template <class T>
void hide_tokens(View<T> x, const RandomKey& key, const Pass& pass) {
  if (pass.word_dropout == 0) return;
  const double least = pass.word_dropout * 0x1p32;
  each_range(key, x.size(0), [&](std::int64_t first, std::int64_t count, std::int64_t place) {
    for (std::int64_t row = first; row < first + count; ++row, ++place) {
      // The 1 differs from all counters of dropout at this place.
      const auto random = kernels::philox(
          {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), key.stream,
           1},
          {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
      if (random[0] < least) std::fill_n(x.data() + row * x.size(1), x.size(1), T{});
    }
  });
}

template <class T>
void drop(View<T> x, const RandomKey& key, const Pass& pass) {
  if (pass.dropout == 0) return;
  ops::dropout<T>(nullptr, x.data(), x.data(), x.size(0), x.size(1), pass.dropout, key,
                  pass.threads);
}

// embedding(tokens) scale, [tokens, width], without positions, in the pass's memory.
template <class T>
View<T> embed(const Embedding<T>& embedding, std::span<const std::int64_t> tokens, double scale,
              Pass& pass) {
  const View<T> x = pass.memory.take<T>({std::ssize(tokens), embedding.width()});
  embedding.forward(tokens, scale, x, pass);
  return x;
}

// Calls use(row of x, row of the table) for each token of a type from 1 on.
template <class T, class Rows, class Use>
void each_typed(View<T> x, const PackedTokens<T>& from, Rows rows, const Use& use) {
  const std::int64_t width = x.size(1);
  for (std::int64_t i = 0; i < std::ssize(from.types); ++i) {
    const std::int64_t type = from.types[static_cast<std::size_t>(i)];
    if (type > 0) use(x.data() + i * width, rows.data() + (type - 1) * width);
  }
}

// Returns the input of a stack, dropout(hide(embedding(tokens) scale) + positions + types), and the
// key of both kinds of dropout, which count tokens from `first_row` on, here and in the stack.
template <class T>
View<const T> read(const Embedding<T>& embedding, double scale, const PositionTables<T>& positions,
                   View<const T> type_rows, const PackedTokens<T>& from, RandomKey& key,
                   Pass& pass) {
  const View<T> x = embed<T>(embedding, from.tokens, scale, pass);
  pass.random.first_row = from.first_row;
  pass.random.rows = from.rows;
  key = pass.next_random();
  hide_tokens(x, key, pass);
  positions.add_to(x, from.segments, from.rows, pass);
  each_typed(x, from, type_rows, [&x](T* row, const T* type) {
    for (std::int64_t k = 0; k < x.size(1); ++k) row[k] += type[k];
  });
  drop(x, key, pass);
  return x;
}

// The gradients of read(): d is that of its result, and is changed.
template <class T>
void read_backward(const Embedding<T>& embedding, double scale, const PositionTables<T>& positions,
                   const PackedTokens<T>& from, const RandomKey& key, View<T> d,
                   Embedding<T>& embedding_gradient, PositionModule<T>& positions_gradient,
                   View<T> types_gradient, Pass& pass) {
  drop(d, key, pass);
  each_typed(d, from, types_gradient, [&d](const T* row, T* type) {
    for (std::int64_t k = 0; k < d.size(1); ++k) type[k] += row[k];
  });
  positions.add_gradient(d, from.segments, from.rows, positions_gradient);
  positions.backward(positions_gradient);
  hide_tokens(d, key, pass);
  embedding.backward(from.tokens, scale, d, embedding_gradient, pass);
}

}  // namespace sextant::models
