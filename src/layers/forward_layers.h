// Takes an activation through a stack, for training and for decoding, which differ in how a layer
// attends.
#pragma once

#include <cstddef>

#include "layers/ops.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant::layers {

// norm and dropout around a layer: y = x + dropout(inner(norm(x))), or norm(x + dropout(inner(x))).
// run(from, to) is the layer.
template <class T, class Saved, class Run>
View<T> forward_block(const Norm<T>& norm, bool pre_norm, View<const T> x, Saved& saved,
                      const Run& run, Pass& pass) {
  const View<T> y = pass.memory.take<T>(x.shape());
  if (pre_norm) {
    const View<T> normal = pass.memory.take<T>(x.shape());
    saved.norm = norm.forward(x, normal, pass);
    saved.inner = run(View<const T>(normal), y);
  } else {
    saved.inner = run(x, y);
  }
  saved.key = pass.next_random();
  ops::dropout<T>(x.data(), y.data(), y.data(), y.size(0), y.size(1), pass.dropout, saved.key,
                  pass.threads);
  if (pre_norm) return y;
  const View<T> normal = pass.memory.take<T>(x.shape());
  saved.norm = norm.forward(y, normal, pass);
  return normal;
}

// self(layer, from, to) and cross(layer, from, to) attend and say what is to be kept; saved.y is
// the result.
template <class T, class Self, class Cross>
void forward_layers(const TransformerStack<T>& stack, View<const T> x,
                    typename TransformerStack<T>::Saved& saved, const Self& self,
                    const Cross& cross, Pass& pass) {
  const bool pre = stack.options.pre_norm;
  saved.layers.resize(stack.layers.size());
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const TransformerLayer<T>& layer = stack.layers[i];
    auto& kept = saved.layers[i];
    x = forward_block(
        layer.self_norm, pre, x, kept.self,
        [&](View<const T> from, View<T> to) { return self(i, from, to); }, pass);
    if (layer.cross) {
      x = forward_block(
          *layer.cross_norm, pre, x, kept.cross.emplace(),
          [&](View<const T> from, View<T> to) { return cross(i, from, to); }, pass);
    }
    x = forward_block(
        layer.feed_forward_norm, pre, x, kept.feed_forward,
        [&](View<const T> from, View<T> to) { return layer.feed_forward.forward(from, to, pass); },
        pass);
    saved.residual.push_back(x);
  }
  saved.y = x;
  if (!stack.final_norm) return;
  const View<T> y = pass.memory.take<T>(x.shape());
  saved.final_norm = stack.final_norm->forward(x, y, pass);
  saved.y = y;
}

}  // namespace sextant::layers
