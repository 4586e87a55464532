// Residual blocks and stacks of them.
#include "sextant/layers/transformer_stack.h"

#include <cmath>

#include "layers/forward_layers.h"
#include "layers/ops.h"
#include "sextant/core/error.h"

namespace sextant {
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
  attention.cross = cross;
  return attention;
}

// d: of the block's result, becomes that of x. run(from, to) takes the gradient through the layer.
template <class T, class Saved, class Run>
void backward_block(const Norm<T>& norm, Norm<T>& gradient, bool pre_norm, const Saved& saved,
                    View<T> d, const Run& run, Pass& pass) {
  const Workspace::Scope scope(pass.memory);
  View<T> inner = d;
  if (!pre_norm) norm.backward(saved.norm, d, d, false, gradient, pass);
  if (pass.dropout > 0) {
    inner = pass.memory.take<T>(d.shape());
    ops::dropout<T>(nullptr, d.data(), inner.data(), d.size(0), d.size(1), pass.dropout, saved.key,
                    pass.threads);
  }
  const View<T> dx = pass.memory.take<T>(d.shape());
  run(View<const T>(inner), dx);
  if (pre_norm) {
    norm.backward(saved.norm, dx, d, true, gradient, pass);
  } else {
    ops::add<T>(dx.data(), d.data(), d.count(), pass.threads);
  }
}

}  // namespace

template <class T>
TransformerLayer<T>::TransformerLayer(const StackOptions& options, FirstWeights weights)
    : self(attention_of(options, false), weights, out_gain(options)),
      self_norm(options.norm, options.attention.width, options.epsilon),
      feed_forward(options.attention.width, hidden_of(options), options.activation,
                   options.bias || options.ffn_bias, weights, out_gain(options)),
      feed_forward_norm(options.norm, options.attention.width, options.epsilon) {
  if (!options.cross) return;
  cross.emplace(attention_of(options, true), weights, out_gain(options));
  cross_norm.emplace(options.norm, options.attention.width, options.epsilon);
}

template <class T>
void TransformerLayer<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  self.append_parameters(to, prefix + "self.");
  self_norm.append_parameters(to, prefix + "self_norm.");
  if (cross) {
    cross->append_parameters(to, prefix + "cross.");
    cross_norm->append_parameters(to, prefix + "cross_norm.");
  }
  feed_forward.append_parameters(to, prefix + "feed_forward.");
  feed_forward_norm.append_parameters(to, prefix + "feed_forward_norm.");
}

template <class T>
TransformerStack<T>::TransformerStack(const StackOptions& given, FirstWeights weights)
    : options(given) {
  if (options.layers < 1 || options.layers > 1000) {
    throw Error("stack.layers", "must be 1 .. 1000, got " + std::to_string(options.layers));
  }
  if (options.ffn_width < 0) {
    throw Error("stack.ffn_width",
                "must not be negative, got " + std::to_string(options.ffn_width));
  }
  if (options.embedding_norm) {
    embedding_norm.emplace(options.norm, options.attention.width, options.epsilon);
  }
  layers.reserve(static_cast<std::size_t>(options.layers));
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options, weights);
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
  const AttentionCall<T> self_call{options.causal, input.segments, {}, input.positions};
  const AttentionCall<T> cross_call{false, input.segments, input.context_segments, nullptr};
  return layers::forward_layers(
      *this, x, saved,
      [&](std::size_t i, View<const T> from, View<T> to) {
        const auto attended = layers[i].self.forward(from, {}, self_call, to, pass);
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
    throw Error("stack.saved", "must be what forward() of this stack gave, of " +
                                   std::to_string(layers.size()) + " layers, got " +
                                   std::to_string(saved.layers.size()) +
                                   "; infer() keeps nothing for gradients");
  }
  const bool pre = options.pre_norm;
  const auto notify_ready = [&pass](const Tensor<T>& first) {
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
    backward_block(
        layer.feed_forward_norm, to.feed_forward_norm, pre, kept.feed_forward, d,
        [&](View<const T> dy, View<T> dx) {
          layer.feed_forward.backward(kept.feed_forward.inner, dy, dx, to.feed_forward, pass);
        },
        pass);
    if (layer.cross) {
      backward_block(
          *layer.cross_norm, *to.cross_norm, pre, *kept.cross, d,
          [&](View<const T> dy, View<T> dx) {
            layer.cross->backward(kept.cross->inner, dy, dx, dcontext, *to.cross, nullptr, pass);
          },
          pass);
    }
    backward_block(
        layer.self_norm, to.self_norm, pre, kept.self, d,
        [&](View<const T> dy, View<T> dx) {
          layer.self.backward(kept.self.inner, dy, dx, {}, to.self, positions_gradient, pass);
        },
        pass);
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
