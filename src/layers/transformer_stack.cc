// Residual blocks and stacks of them.
#include "sextant/layers/transformer_stack.h"

#include <cmath>
#include <utility>

#include "core/options/enum_names.h"
#include "layers/forward_layers.h"
#include "layers/ops.h"
#include "sextant/core/error.h"

namespace sextant {

std::string_view name_of(ParallelBlocks blocks) noexcept {
  return enum_name(blocks, {"none", "one_norm", "two_norms"});
}

namespace {

std::int64_t blocks_of(const StackOptions& options) {
  return options.layers * (options.cross ? 3 : 2);
}

double out_gain(const StackOptions& options) {
  return options.pre_norm ? 1 / std::sqrt(static_cast<double>(blocks_of(options))) : 1;
}

std::int64_t hidden_of(const StackOptions& options) {
  return options.ffn_width == 0 ? 4 * options.attention.width : options.ffn_width;
}

AttentionLayerOptions attention_of(const StackOptions& options, bool cross) {
  AttentionLayerOptions attention = options.attention;
  attention.bias = options.bias;
  attention.qkv_bias = options.qkv_bias;
  attention.out_bias = options.out_bias;
  attention.norm = options.norm;
  attention.epsilon = options.epsilon;
  attention.cross = cross;
  return attention;
}

template <class T>
using Norms = layers::BlockNorms<T>;

// Takes d, the gradient of a block's result, to the input of the layer, after the norm before it.
// run(from, to) takes it through the layer.
template <class T, class Saved, class Run>
View<T> backward_branch(const Norm<T>* of_result, Norm<T>* gradient, const Saved& saved,
                        View<const T> d, const Run& run, Pass& pass) {
  View<const T> inner = d;
  if (pass.dropout > 0) {
    const View<T> dropped = pass.memory.take<T>(d.shape());
    ops::dropout<T>(nullptr, d.data(), dropped.data(), d.size(0), d.size(1), pass.dropout,
                    saved.key, pass.threads);
    inner = dropped;
  }
  if (of_result != nullptr) {
    const View<T> given = pass.memory.take<T>(d.shape());
    of_result->backward(saved.output_norm, inner, given, false, *gradient, pass);
    inner = given;
  }
  const View<T> dx = pass.memory.take<T>(d.shape());
  run(inner, dx);
  return dx;
}

// d: of the block's result, becomes that of x.
template <class T, class Saved, class Run>
void backward_block(const Norms<const Norm<T>>& norms, const Norms<Norm<T>>& gradients,
                    const Saved& saved, View<T> d, const Run& run, Pass& pass) {
  const Workspace::Scope scope(pass.memory);
  if (norms.after != nullptr) {
    norms.after->backward(saved.norm, d, d, false, *gradients.after, pass);
  }
  const View<T> dx = backward_branch<T>(norms.of_result, gradients.of_result, saved, d, run, pass);
  if (norms.before != nullptr) {
    norms.before->backward(saved.norm, dx, d, true, *gradients.before, pass);
  } else {
    ops::add<T>(dx.data(), d.data(), d.count(), pass.threads);
  }
}

// The same of a layer whose blocks both read x.
template <class T, class Self, class Next>
void backward_parallel(const TransformerLayer<T>& layer, TransformerLayer<T>& gradient,
                       const typename TransformerLayer<T>::Saved& saved, View<T> d,
                       const Self& self, const Next& feed_forward, Pass& pass) {
  const Workspace::Scope scope(pass.memory);
  const View<T> of_next =
      backward_branch<T>(nullptr, nullptr, saved.feed_forward, d, feed_forward, pass);
  const View<T> of_self = backward_branch<T>(nullptr, nullptr, saved.self, d, self, pass);
  if (layer.feed_forward_norm) {
    layer.feed_forward_norm->backward(saved.feed_forward.norm, of_next, d, true,
                                      *gradient.feed_forward_norm, pass);
  } else {
    ops::add<T>(of_next.data(), of_self.data(), d.count(), pass.threads);
  }
  layer.self_norm->backward(saved.self.norm, of_self, d, true, *gradient.self_norm, pass);
}

void check(const StackOptions& options) {
  if (options.layers < 1 || options.layers > 1000) {
    throw Error("stack.layers", "must be 1 .. 1000, got " + std::to_string(options.layers));
  }
  if (options.ffn_width < 0) {
    throw Error("stack.ffn_width",
                "must not be negative, got " + std::to_string(options.ffn_width));
  }
  if (options.parallel != ParallelBlocks::none &&
      (!options.pre_norm || options.output_norm || options.cross)) {
    throw Error("stack.parallel",
                "must be none where norms are elsewhere than before the blocks, and with cross "
                "attention, got " +
                    std::string(name_of(options.parallel)));
  }
  if (!options.first_norm && (!options.pre_norm || options.parallel != ParallelBlocks::none)) {
    throw Error("stack.first_norm",
                "must be true unless norms are before the blocks, one after the other, got false");
  }
  if (!options.kinds.empty() && std::ssize(options.kinds) != options.layers) {
    throw Error("stack.kinds", "must be one per layer, " + std::to_string(options.layers) +
                                   ", or none, got " + std::to_string(options.kinds.size()));
  }
}

}  // namespace

template <class T>
TransformerLayer<T>::TransformerLayer(const StackOptions& options, FirstWeights weights, bool first)
    : self(attention_of(options, false), weights, out_gain(options)),
      feed_forward(options.attention.width, hidden_of(options), options.activation,
                   options.bias || options.ffn_bias, weights, out_gain(options)) {
  const auto start = [&options](std::optional<Norm<T>>& norm) {
    norm.emplace(options.norm, options.attention.width, options.epsilon);
  };
  const bool both = options.pre_norm && options.output_norm;
  if (options.first_norm || !first) start(self_norm);
  if (options.parallel != ParallelBlocks::one_norm) start(feed_forward_norm);
  if (both) start(self_output_norm);
  if (both) start(feed_forward_output_norm);
  if (!options.cross) return;
  cross.emplace(attention_of(options, true), weights, out_gain(options));
  start(cross_norm);
  if (both) start(cross_output_norm);
}

template <class T>
void TransformerLayer<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  const auto append = [&](std::optional<Norm<T>>& norm, const char* name) {
    if (norm) norm->append_parameters(to, prefix + name);
  };
  self.append_parameters(to, prefix + "self.");
  append(self_norm, "self_norm.");
  append(self_output_norm, "self_output_norm.");
  if (cross) cross->append_parameters(to, prefix + "cross.");
  append(cross_norm, "cross_norm.");
  append(cross_output_norm, "cross_output_norm.");
  feed_forward.append_parameters(to, prefix + "feed_forward.");
  append(feed_forward_norm, "feed_forward_norm.");
  append(feed_forward_output_norm, "feed_forward_output_norm.");
}

template <class T>
TransformerStack<T>::TransformerStack(StackOptions given, FirstWeights weights)
    : options(std::move(given)) {
  check(options);
  if (options.embedding_norm) {
    embedding_norm.emplace(options.norm, options.attention.width, options.epsilon);
  }
  layers.reserve(static_cast<std::size_t>(options.layers));
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options, weights, i == 0);
  if (options.final_norm) {
    final_norm.emplace(options.norm, options.attention.width, options.epsilon);
  }
}

template <class T>
typename TransformerStack<T>::Saved TransformerStack<T>::forward(View<const T> x,
                                                                 const Input& input,
                                                                 Pass& pass) const {
  Saved saved;
  saved.y = run(x, input, &saved, {}, pass);
  return saved;
}

template <class T>
View<const T> TransformerStack<T>::infer(View<const T> x, const Input& input, Pass& pass,
                                         const Observer& observer) const {
  return run(x, input, nullptr, observer, pass);
}

template <class T>
View<const T> TransformerStack<T>::run(View<const T> x, const Input& input, Saved* saved,
                                       const Observer& observer, Pass& pass) const {
  const AttentionCall<T> cross_call{false, input.segments, input.context_segments, nullptr};
  return layers::forward_layers(
      *this, x, saved,
      [&](std::size_t i, View<const T> from, View<T> to) {
        const AttentionCall<T> call{
            options.causal, input.segments, {}, input.positions, kind_of(i)};
        const auto attended = layers[i].self.forward(from, {}, call, to, pass);
        if (observer.self) observer.self(i, attended);
        return attended;
      },
      [&](std::size_t i, View<const T> from, View<T> to) {
        const auto attended = layers[i].cross->forward(from, input.context, cross_call, to, pass);
        if (observer.cross) observer.cross(i, attended);
        return attended;
      },
      [&](View<const T> stream) {
        if (observer.residual) observer.residual(stream);
      },
      pass);
}

template <class T>
View<const T> TransformerStack<T>::apply_final_norm(View<const T> x, Pass& pass) const {
  if (!final_norm) return x;
  const View<T> y = pass.memory.take<T>(x.shape());
  final_norm->forward(x, y, pass);
  return y;
}

template <class T>
void TransformerStack<T>::backward(const Saved& saved, View<T> d, View<T> dcontext,
                                   TransformerStack& gradient,
                                   PositionModule<T>* positions_gradient, Pass& pass) const {
  if (saved.layers.size() != layers.size()) {
    throw Error("stack.saved", "must be the result of forward() of this stack, of " +
                                   std::to_string(layers.size()) + " layers, got " +
                                   std::to_string(saved.layers.size()) +
                                   "; infer() keeps nothing for gradients");
  }
  const auto notify_ready = [&pass](const auto& first) {
    if (pass.on_gradients_ready) pass.on_gradients_ready(first.data());
  };
  if (final_norm) {
    final_norm->backward(*saved.final_norm, d, d, false, *gradient.final_norm, pass);
    notify_ready(gradient.final_norm->gain);
  }
  for (std::size_t i = layers.size(); i-- > 0;) {
    const TransformerLayer<T>& layer = layers[i];
    TransformerLayer<T>& to = gradient.layers[i];
    const auto& kept = saved.layers[i];
    const auto feed_forward = [&](View<const T> dy, View<T> dx) {
      layer.feed_forward.backward(kept.feed_forward.inner, dy, dx, to.feed_forward, pass);
    };
    const auto self = [&](View<const T> dy, View<T> dx) {
      layer.self.backward(kept.self.inner, dy, dx, {}, to.self, positions_gradient, pass);
    };
    if (options.parallel != ParallelBlocks::none) {
      backward_parallel<T>(layer, to, kept, d, self, feed_forward, pass);
      notify_ready(to.self.in.weight);
      continue;
    }
    const auto block = [&](const std::optional<Norm<T>>& norm, const std::optional<Norm<T>>& output,
                           std::optional<Norm<T>>& gradient_of,
                           std::optional<Norm<T>>& output_gradient, const auto& its_saved,
                           const auto& run) {
      backward_block<T>(layers::block_norms<const Norm<T>>(options, norm, output),
                        layers::block_norms<Norm<T>>(options, gradient_of, output_gradient),
                        its_saved, d, run, pass);
    };
    block(layer.feed_forward_norm, layer.feed_forward_output_norm, to.feed_forward_norm,
          to.feed_forward_output_norm, kept.feed_forward, feed_forward);
    if (layer.cross) {
      block(layer.cross_norm, layer.cross_output_norm, to.cross_norm, to.cross_output_norm,
            *kept.cross, [&](View<const T> dy, View<T> dx) {
              layer.cross->backward(kept.cross->inner, dy, dx, dcontext, *to.cross, nullptr, pass);
            });
    }
    block(layer.self_norm, layer.self_output_norm, to.self_norm, to.self_output_norm, kept.self,
          self);
    notify_ready(to.self.in.weight);
  }
  if (!embedding_norm) return;
  embedding_norm->backward(*saved.embedding_norm, d, d, false, *gradient.embedding_norm, pass);
  notify_ready(gradient.embedding_norm->gain);
}

template <class T>
void TransformerStack<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  if (embedding_norm) embedding_norm->append_parameters(to, prefix + "embedding_norm.");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].append_parameters(to, prefix + std::to_string(i) + ".");
  }
  if (final_norm) final_norm->append_parameters(to, prefix + "final_norm.");
}

template struct TransformerLayer<float>;
template struct TransformerLayer<double>;
template struct TransformerStack<float>;
template struct TransformerStack<double>;

}  // namespace sextant
