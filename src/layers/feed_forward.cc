// The feed-forward layer.
#include "sextant/layers/feed_forward.h"

#include "layers/ops.h"

namespace sextant {

template <class T>
FeedForward<T>::FeedForward(std::int64_t width, std::int64_t ffn_width, Activation function,
                            bool with_bias, FirstWeights weights, double out_gain)
    : activation(function),
      in(Linear<T>::glorot(width, is_gated(function) ? 2 * ffn_width : ffn_width, weights,
                           with_bias)),
      out(Linear<T>::glorot(ffn_width, width, weights, with_bias, out_gain)) {}

template <class T>
typename FeedForward<T>::Saved FeedForward<T>::forward(View<const T> x, View<T> y,
                                                       Pass& pass) const {
  const std::int64_t rows = x.size(0);
  const View<T> before = pass.memory.take<T>({rows, in.weight.size(0)});
  // ReLU's result, also after dropout, is positive where its gradient passes.
  const View<T> after =
      activation == Activation::relu ? before : pass.memory.take<T>({rows, out.weight.size(1)});
  if (activation == Activation::relu) {
    ops::linear_relu<T>(x, in.weight.weights(), in.bias.data(), after, pass.threads);
  } else {
    in.forward(x, before, pass);
    ops::activate<T>(activation, before, after, pass.threads);
  }
  const RandomKey key = pass.next_random();
  if (pass.dropout > 0) {
    ops::dropout<T>(nullptr, after.data(), after.data(), rows, after.size(1), pass.dropout, key,
                    pass.threads);
  }
  out.forward(after, y, pass);
  return {x, before, after, key};
}

template <class T>
void FeedForward<T>::backward(const Saved& saved, View<const T> dy, View<T> dx,
                              FeedForward& gradient, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const View<T> dafter = pass.memory.take<T>(saved.after.shape());
  const bool relu = activation == Activation::relu;
  if (relu) {
    ops::linear_weight_gradient<T>(saved.after, dy, gradient.out.weight.view(),
                                   gradient.out.bias.data(), pass.threads);
    ops::relu_linear_input_gradient<T>(dy, out.weight.view(), saved.after, dafter, pass.threads);
  } else {
    out.backward(saved.after, dy, dafter, gradient.out, pass);
  }
  if (pass.dropout > 0) {
    ops::dropout<T>(nullptr, dafter.data(), dafter.data(), dafter.size(0), dafter.size(1),
                    pass.dropout, saved.key, pass.threads);
  }
  const bool gated = is_gated(activation);
  const View<T> dbefore = gated ? pass.memory.take<T>(saved.before.shape()) : dafter;
  if (!relu) ops::activate_gradient<T>(activation, saved.before, dafter, dbefore, pass.threads);
  in.backward(saved.x, dbefore, dx, gradient.in, pass);
}

template <class T>
void FeedForward<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  in.append_parameters(to, prefix + "in.");
  out.append_parameters(to, prefix + "out.");
}

template struct FeedForward<float>;
template struct FeedForward<double>;

}  // namespace sextant
