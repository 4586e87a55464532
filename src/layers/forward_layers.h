// Takes an activation through a stack, for training, inference and decoding, which differ in how a
// layer attends and in what is kept.
#pragma once

#include <cstddef>
#include <utility>

#include "layers/ops.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant::layers {

// Applies norm and dropout around a layer: to = x + dropout(inner(norm(x))), or norm(x +
// dropout(inner(x))). run(from, to) is the layer.
template <class T, class Saved, class Run>
void forward_block(const Norm<T>& norm, bool pre_norm, View<const T> x, View<T> to, Saved& saved,
                   const Run& run, Pass& pass) {
  const View<T> between = pass.memory.take<T>(x.shape());
  const View<T> sum = pre_norm ? to : between;
  if (pre_norm) saved.norm = norm.forward(x, between, pass);
  saved.inner = run(pre_norm ? View<const T>(between) : x, sum);
  saved.key = pass.next_random();
  ops::dropout<T>(x.data(), sum.data(), sum.data(), sum.size(0), sum.size(1), pass.dropout,
                  saved.key, pass.threads);
  if (!pre_norm) saved.norm = norm.forward(sum, to, pass);
}

// The result, in the pass's memory. self(layer, from, to) and cross(layer, from, to) attend and say
// what is to be kept; residual(x) sees the residual stream before the first layer and after each.
// Without `saved` (null) the memory of a block is released after it: two results take turns.
template <class T, class Self, class Cross, class Residual>
View<const T> forward_layers(const TransformerStack<T>& stack, View<const T> x,
                             typename TransformerStack<T>::Saved* saved, const Self& self,
                             const Cross& cross, const Residual& residual, Pass& pass) {
  const auto result = [&] { return pass.memory.take<T>(x.shape()); };
  View<T> next, last;
  if (saved != nullptr) {
    saved->layers.resize(stack.layers.size());
  } else {
    next = result();
    last = result();
  }
  const auto block = [&](const Norm<T>& norm, auto& kept, const auto& run) {
    if (saved != nullptr) next = result();
    const Workspace::Mark mark = pass.memory.mark();
    forward_block(norm, stack.options.pre_norm, x, next, kept, run, pass);
    x = next;
    if (saved != nullptr) return;
    pass.memory.release(mark);
    std::swap(next, last);
  };
  if (stack.embedding_norm) {
    if (saved != nullptr) next = result();
    const auto norm = stack.embedding_norm->forward(x, next, pass);
    if (saved != nullptr) saved->embedding_norm = norm;
    x = next;
    if (saved == nullptr) std::swap(last, next);
  }
  residual(x);
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const TransformerLayer<T>& layer = stack.layers[i];
    typename TransformerLayer<T>::Saved released;
    auto& kept = saved != nullptr ? saved->layers[i] : released;
    block(layer.self_norm, kept.self,
          [&](View<const T> from, View<T> to) { return self(i, from, to); });
    if (layer.cross) {
      block(*layer.cross_norm, kept.cross.emplace(),
            [&](View<const T> from, View<T> to) { return cross(i, from, to); });
    }
    block(layer.feed_forward_norm, kept.feed_forward, [&](View<const T> from, View<T> to) {
      return layer.feed_forward.forward(from, to, pass);
    });
    residual(x);
  }
  if (!stack.final_norm) return x;
  const View<T> y = saved != nullptr ? result() : next;
  const auto norm = stack.final_norm->forward(x, y, pass);
  if (saved != nullptr) saved->final_norm = norm;
  return y;
}

}  // namespace sextant::layers
