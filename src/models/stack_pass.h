// Tokens through an embedding and a stack: for training, and without gradients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/embed_tokens.h"
#include "sextant/core/error.h"
#include "sextant/models/token_model.h"

namespace sextant::models {

// The parts of a model that read tokens.
template <class T>
struct TokenStack {
  const Embedding<T>& embedding;
  double embedding_scale;
  const PositionModule<T>& positions;
  const TransformerStack<T>& stack;
  View<const T> type_rows{};  // [types - 1, width]
};

// The data of the tokens that a pass of training keeps. Embedding and stack must live until it is
// over.
template <class T>
class StackPass {
 public:
  StackPass(const TokenStack<T>& of, const PackedTokens<T>& from, Pass& pass)
      : of_(of),
        from_(from),
        positions_(std::make_unique<const PositionTables<T>>(of.positions.tables(from.segments))) {
    const View<const T> x =
        read(of.embedding, of.embedding_scale, *positions_, of.type_rows, from, key_, pass);
    saved_ = of.stack.forward(x, from.input(*positions_), pass);
  }

  View<const T> y() const noexcept { return saved_.y; }  // [tokens, width]

  // d: the gradient of y, is changed; dcontext and the gradients are added to.
  void backward(View<T> d, View<T> dcontext, Embedding<T>& embedding_gradient,
                PositionModule<T>& positions_gradient, TransformerStack<T>& stack_gradient,
                Pass& pass, View<T> types_gradient = {}) const {
    of_.stack.backward(saved_, d, dcontext, stack_gradient, &positions_gradient, pass);
    read_backward(of_.embedding, of_.embedding_scale, *positions_, from_, key_, d,
                  embedding_gradient, positions_gradient, types_gradient, pass);
  }

 private:
  TokenStack<T> of_;
  PackedTokens<T> from_;
  std::unique_ptr<const PositionTables<T>> positions_;  // the stack keeps its address
  RandomKey key_;
  typename TransformerStack<T>::Saved saved_;
};

// The same y, [tokens, width], where nothing is kept for gradients.
template <class T>
View<const T> infer(const TokenStack<T>& of, const PackedTokens<T>& from, Pass& pass,
                    const typename TransformerStack<T>::Observer& observer = {}) {
  const PositionTables<T> positions = of.positions.tables(from.segments);
  RandomKey key;
  const View<const T> x =
      read(of.embedding, of.embedding_scale, positions, of.type_rows, from, key, pass);
  return of.stack.infer(x, from.input(positions), pass, observer);
}

// Puts copies of the residual stream, as an observer sees it, into `states`.
template <class T>
std::function<void(View<const T>)> states_into(std::vector<Tensor<T>>& states) {
  return [&states](View<const T> x) { states.push_back(copy_of(x)); };
}

// Returns the logits of each layer as if it were the last: before any layer and after each, [layers
// + 1][tokens, vocabulary]. make(h, logits) computes the logits of hidden states h.
template <class T, class Make>
std::vector<Tensor<T>> layer_logits(const TokenStack<T>& of, const PackedTokens<T>& from,
                                    Pass& pass, const Make& make) {
  std::vector<Tensor<T>> result;
  infer<T>(of, from, pass, {.residual = [&](View<const T> x) {
             const Workspace::Scope scope(pass.memory);
             const View<const T> h = of.stack.apply_final_norm(x, pass);
             Tensor<T>& logits = result.emplace_back(
                 Tensor<T>::uninitialized({x.size(0), of.embedding.table().size(0)}));
             make(h, logits.view());
           }});
  return result;
}

// Puts the attention weights of the first sequence into `self` and `cross` (null: nowhere),
// [chosen layers][heads, rows, tokens or context tokens]. The spans of `chosen` are borrowed.
// Throws Error unless its layers are those of the stack in ascending order.
template <class T>
typename TransformerStack<T>::Observer weights_into(const TransformerStack<T>& stack,
                                                    const MapSelection& chosen,
                                                    std::vector<Tensor<T>>* self,
                                                    std::vector<Tensor<T>>* cross = nullptr) {
  std::int64_t before = -1;
  for (const std::int64_t layer : chosen.layers) {
    if (layer <= before || layer >= std::ssize(stack.layers)) {
      throw Error("attention_maps.layers",
                  "must be 0 .. " + std::to_string(stack.layers.size() - 1) +
                      " in ascending order, got " + std::to_string(layer) +
                      (before < 0 ? "" : " after " + std::to_string(before)));
    }
    before = layer;
  }
  const WeightsOptions parts{.heads = {chosen.heads.begin(), chosen.heads.end()},
                             .rows = {chosen.rows.begin(), chosen.rows.end()}};
  const auto put = [chosen, parts](const AttentionLayer<T>& layer, std::size_t i,
                                   const typename AttentionLayer<T>::Saved& attended,
                                   std::vector<Tensor<T>>* maps) {
    if (maps == nullptr) return;
    const auto number = static_cast<std::int64_t>(i);
    const auto& layers = chosen.layers;
    if (!layers.empty() && !std::binary_search(layers.begin(), layers.end(), number)) return;
    maps->push_back(layer.weights(attended, 0, parts));
  };
  return {.self = [&stack, put, self](
                      std::size_t i,
                      const auto& attended) { put(stack.layers[i].self, i, attended, self); },
          .cross = [&stack, put, cross](
                       std::size_t i,
                       const auto& attended) { put(*stack.layers[i].cross, i, attended, cross); }};
}

}  // namespace sextant::models
