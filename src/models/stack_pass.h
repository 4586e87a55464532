// Tokens through an embedding and a stack, and gradients back: what all models share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/layers/philox.h"
#include "layers/ops.h"
#include "sextant/layers/embedding.h"
#include "sextant/layers/transformer_stack.h"

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

// embedding(tokens) sqrt(width), [tokens, width], without positions, in the pass's memory.
template <class T>
View<T> embed(const Embedding<T>& embedding, std::span<const std::int64_t> tokens, Pass& pass) {
  const View<T> x = pass.memory.take<T>({std::ssize(tokens), embedding.width()});
  embedding.forward(tokens, std::sqrt(static_cast<double>(embedding.width())), x, pass);
  return x;
}

// Tokens that are read, packed; borrowed while a pass lasts.
struct PackedTokens {
  std::span<const std::int64_t> tokens;    // that are here
  std::span<const std::int64_t> segments;  // [sequences + 1], of the batch
  std::int64_t first_row = 0;              // as TokenBatch::first_row
  std::span<const RowRange> rows{};        // of the batch, which the tokens are; empty: all
};

// What one pass of tokens through a stack keeps. Embedding and stack stay alive until it is over.
template <class T>
class StackPass {
 public:
  // Reads dropout(hide(embedding(tokens) sqrt(width)) + positions). Both kinds of dropout count
  // tokens from `first_row` on, here and in the stack. `context`: of a decoder.
  StackPass(const Embedding<T>& embedding, const SchemePositions<T>& positions,
            const TransformerStack<T>& stack, const PackedTokens& from, Pass& pass,
            View<const T> context = {}, std::span<const std::int64_t> context_segments = {})
      : embedding_(embedding),
        stack_(stack),
        from_(from),
        positions_(std::make_unique<const PositionTables<T>>(positions.tables(from.segments))) {
    const View<T> x = embed<T>(embedding, from.tokens, pass);
    pass.random.first_row = from.first_row;
    pass.random.rows = from.rows;
    key_ = pass.next_random();
    hide_tokens(x, key_, pass);
    positions_->add_to(x, from.segments, from.rows, pass);
    drop(x, pass);
    x_ = x;
    saved_ = stack.forward(x,
                           {.segments = from.segments,
                            .context = context,
                            .context_segments = context_segments,
                            .positions = positions_.get()},
                           pass);
  }

  View<const T> y() const noexcept { return saved_.y; }  // [tokens, width]

  // d: the gradient of y, is changed; dcontext and the gradients are added to.
  void backward(View<T> d, View<T> dcontext, Embedding<T>& embedding_gradient,
                SchemePositions<T>& positions_gradient, TransformerStack<T>& stack_gradient,
                Pass& pass) const {
    stack_.backward(saved_, d, dcontext, stack_gradient, &positions_gradient, pass);
    drop(d, pass);
    positions_->add_gradient(d, from_.segments, from_.rows, positions_gradient);
    positions_->finish(positions_gradient);
    hide_tokens(d, key_, pass);
    embedding_.backward(from_.tokens, std::sqrt(static_cast<double>(embedding_.width())), d,
                        embedding_gradient, pass);
  }

  // The attention weights of the first sequence, [layers][heads, tokens, tokens or context tokens].
  std::vector<Tensor<T>> weights(bool cross = false) const {
    std::vector<Tensor<T>> maps;
    for (std::size_t i = 0; i < stack_.layers.size(); ++i) {
      const auto& layer = stack_.layers[i];
      const auto& kept = saved_.layers[i];
      maps.push_back(cross ? layer.cross->weights(kept.cross->inner, 0)
                           : layer.self.weights(kept.self.inner, 0));
    }
    return maps;
  }

  // What each layer would give if it were the last: before any layer and after each,
  // [layers + 1][tokens, vocabulary]. finish(h, logits) may change the logits of hidden states h.
  template <class Finish>
  std::vector<Tensor<T>> layer_logits(View<const T> matrix, Pass& pass,
                                      const Finish& finish) const {
    std::vector<View<const T>> streams = {x_};
    streams.insert(streams.end(), saved_.residual.begin(), saved_.residual.end());
    std::vector<Tensor<T>> result;
    for (const View<const T>& x : streams) {
      const View<const T> h = stack_.apply_final_norm(x, pass);
      Tensor<T>& logits =
          result.emplace_back(Tensor<T>::uninitialized({x.size(0), matrix.size(0)}));
      ops::linear<T>(h, matrix, nullptr, logits.view(), pass.threads);
      finish(h, logits.view());
    }
    return result;
  }

 private:
  void drop(View<T> x, const Pass& pass) const {
    if (pass.dropout == 0) return;
    ops::dropout<T>(nullptr, x.data(), x.data(), x.size(0), x.size(1), pass.dropout, key_,
                    pass.threads);
  }

  const Embedding<T>& embedding_;
  const TransformerStack<T>& stack_;
  PackedTokens from_;
  std::unique_ptr<const PositionTables<T>> positions_;  // the stack keeps its address
  RandomKey key_;
  View<const T> x_;  // what goes into the stack
  typename TransformerStack<T>::Saved saved_;
};

}  // namespace sextant::models
