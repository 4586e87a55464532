// The way of tokens into a stack, and of gradients back: shared by all models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/layers/philox.h"
#include "layers/ops.h"
#include "sextant/layers/embedding.h"
#include "sextant/layers/scheme_positions.h"

namespace sextant::models {

// Zeros the rows of the tokens that word dropout hides.
template <class T>
void hide_tokens(View<T> x, const RandomKey& key, const Pass& pass) {
  if (pass.word_dropout == 0) return;
  const double least = pass.word_dropout * 0x1p32;
  each_range(key, x.size(0), [&](std::int64_t first, std::int64_t count, std::int64_t place) {
    for (std::int64_t row = first; row < first + count; ++row, ++place) {
      // The 1 is what no counter of dropout has there.
      const auto random = kernels::philox(
          {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), key.stream,
           1},
          {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
      if (random[0] < least) std::fill_n(x.data() + row * x.size(1), x.size(1), T{});
    }
  });
}

// dropout(hide(embedding(tokens) sqrt(width)) + positions), [tokens, width], in the pass's memory;
// `key` is set to that of both kinds of dropout, which count tokens from `first_row` on, here and
// in the stack. `rows`: which rows of the batch the tokens are, empty: all; stays alive until the
// backward pass is over.
template <class T>
View<T> embed_tokens(const Embedding<T>& embedding, const PositionTables<T>& positions,
                     std::span<const std::int64_t> tokens, std::span<const std::int64_t> segments,
                     std::int64_t first_row, RandomKey& key, Pass& pass,
                     std::span<const RowRange> rows = {}) {
  const View<T> x =
      pass.memory.take<T>({static_cast<std::int64_t>(tokens.size()), embedding.width()});
  embedding.forward(tokens, std::sqrt(static_cast<double>(embedding.width())), x, pass);
  pass.random.first_row = first_row;
  pass.random.rows = rows;
  key = pass.next_random();
  hide_tokens(x, key, pass);
  positions.add_to(x, segments, rows, pass);
  if (pass.dropout > 0) {
    ops::dropout<T>(nullptr, x.data(), x.data(), x.size(0), x.size(1), pass.dropout, key,
                    pass.threads);
  }
  return x;
}

// The same for decoding: embedding(tokens) sqrt(width) alone, to which a StackDecoder adds the
// positions.
template <class T>
View<T> embed_next(const Embedding<T>& embedding, std::span<const std::int64_t> tokens,
                   Pass& pass) {
  const View<T> x =
      pass.memory.take<T>({static_cast<std::int64_t>(tokens.size()), embedding.width()});
  embedding.forward(tokens, std::sqrt(static_cast<double>(embedding.width())), x, pass);
  return x;
}

// dx: the gradient of what embed_tokens() gave; is changed.
template <class T>
void embed_tokens_gradient(const Embedding<T>& embedding, const PositionTables<T>& positions,
                           std::span<const std::int64_t> tokens,
                           std::span<const std::int64_t> segments, RandomKey key, View<T> dx,
                           Embedding<T>& gradient, SchemePositions<T>& positions_gradient,
                           Pass& pass) {
  if (pass.dropout > 0) {
    ops::dropout<T>(nullptr, dx.data(), dx.data(), dx.size(0), dx.size(1), pass.dropout, key,
                    pass.threads);
  }
  positions.add_gradient(dx, segments, key.rows, positions_gradient);
  positions.finish(positions_gradient);
  hide_tokens(dx, key, pass);
  embedding.backward(tokens, std::sqrt(static_cast<double>(embedding.width())), dx, gradient, pass);
}

}  // namespace sextant::models
