// Takes an activation through a stack, for training, inference and decoding, which differ in their
// attention and in the data that they keep.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "layers/ops.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant::layers {

// The norms around a layer: of its input, of its result, of the sum; null: none.
template <class T>
struct BlockNorms {
  T *before = nullptr, *of_result = nullptr, *after = nullptr;
};
// T: const Norm<U> or Norm<U>. `output` is there where norms are before and of the result.
template <class T, class Optional>
BlockNorms<T> block_norms(const StackOptions& options, Optional& norm, Optional& output) {
  T* const first = norm ? &*norm : nullptr;
  if (options.pre_norm) return {first, output ? &*output : nullptr, nullptr};
  if (options.output_norm) return {nullptr, first, nullptr};
  return {nullptr, nullptr, first};
}

// Applies norms and dropout around a layer: to = residual + dropout(norm(inner(norm(x)))), or
// norm(residual + dropout(inner(x))). run(from, to) is the layer.
template <class T, class Saved, class Run>
void forward_block(const BlockNorms<const Norm<T>>& norms, View<const T> x, View<const T> residual,
                   View<T> to, Saved& saved, const Run& run, Pass& pass) {
  View<const T> from = x;
  if (norms.before != nullptr) {
    const View<T> normed = pass.memory.take<T>(x.shape());
    saved.norm = norms.before->forward(x, normed, pass);
    from = normed;
  }
  const View<T> sum = norms.after != nullptr ? pass.memory.take<T>(x.shape()) : to;
  if (norms.of_result != nullptr) {
    const View<T> given = pass.memory.take<T>(x.shape());
    saved.inner = run(from, given);
    saved.output_norm = norms.of_result->forward(given, sum, pass);
  } else {
    saved.inner = run(from, sum);
  }
  saved.key = pass.next_random();
  ops::dropout<T>(residual.data(), sum.data(), sum.data(), sum.size(0), sum.size(1), pass.dropout,
                  saved.key, pass.threads);
  if (norms.after != nullptr) saved.norm = norms.after->forward(sum, to, pass);
}

// Both layers read x: to = x + self(norm(x)) + feed_forward(norm(x)), with dropout of each.
template <class T, class Saved, class Self, class Next>
void forward_parallel(const TransformerLayer<T>& layer, View<const T> x, View<T> to, Saved& saved,
                      const Self& self, const Next& feed_forward, Pass& pass) {
  const View<T> read = pass.memory.take<T>(x.shape()), sum = pass.memory.take<T>(x.shape());
  saved.self.norm = layer.self_norm->forward(x, read, pass);
  forward_block<T>({}, read, x, sum, saved.self, self, pass);
  const bool own = layer.feed_forward_norm.has_value();
  forward_block<T>({own ? &*layer.feed_forward_norm : nullptr}, own ? x : View<const T>(read), sum,
                   to, saved.feed_forward, feed_forward, pass);
}

// Returns the result, in the pass's memory. self(layer, from, to) and cross(layer, from, to) attend
// and return the data to keep; residual(x) sees the residual stream before the first layer and
// after each. Without `saved` (null) the memory of a block is released after it: two results
// alternate.
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
  const auto step = [&](const auto& run) {
    if (saved != nullptr) next = result();
    const Workspace::Mark mark = pass.memory.mark();
    run();
    x = next;
    if (saved != nullptr) return;
    pass.memory.release(mark);
    std::swap(next, last);
  };
  const auto block = [&](const std::optional<Norm<T>>& norm, const std::optional<Norm<T>>& output,
                         auto& kept, const auto& run) {
    step([&] {
      forward_block<T>(block_norms<const Norm<T>>(stack.options, norm, output), x, x, next, kept,
                       run, pass);
    });
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
    const auto attend = [&](View<const T> from, View<T> to) { return self(i, from, to); };
    const auto feed_forward = [&](View<const T> from, View<T> to) {
      return layer.feed_forward.forward(from, to, pass);
    };
    if (stack.options.parallel != ParallelBlocks::none) {
      step([&] { forward_parallel<T>(layer, x, next, kept, attend, feed_forward, pass); });
      residual(x);
      continue;
    }
    block(layer.self_norm, layer.self_output_norm, kept.self, attend);
    if (layer.cross) {
      block(layer.cross_norm, layer.cross_output_norm, kept.cross.emplace(),
            [&](View<const T> from, View<T> to) { return cross(i, from, to); });
    }
    block(layer.feed_forward_norm, layer.feed_forward_output_norm, kept.feed_forward, feed_forward);
    residual(x);
  }
  if (!stack.final_norm) return x;
  const View<T> y = saved != nullptr ? result() : next;
  const auto norm = stack.final_norm->forward(x, y, pass);
  if (saved != nullptr) saved->final_norm = norm;
  return y;
}

}  // namespace sextant::layers
