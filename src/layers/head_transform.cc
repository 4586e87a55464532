// The layer before the logits of masked language models.
#include "sextant/layers/head_transform.h"

#include "layers/ops.h"

namespace sextant {

template <class T>
HeadTransform<T>::HeadTransform(std::int64_t width, Activation function, NormKind kind,
                                double epsilon, FirstWeights weights)
    : activation(function_of(function)),
      dense(Linear<T>::glorot(width, width, weights)),
      norm(kind, width, epsilon) {}

template <class T>
typename HeadTransform<T>::Saved HeadTransform<T>::forward(View<const T> x, Pass& pass) const {
  const View<T> before = pass.memory.take<T>(x.shape()), after = pass.memory.take<T>(x.shape()),
                y = pass.memory.take<T>(x.shape());
  dense.forward(x, before, pass);
  ops::activate<T>(activation, before, after, pass.threads);
  return {x, before, norm.forward(after, y, pass), y};
}

template <class T>
void HeadTransform<T>::backward(const Saved& saved, View<T> d, HeadTransform& gradient,
                                Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const View<T> inner = pass.memory.take<T>(d.shape());
  norm.backward(saved.norm, d, inner, false, gradient.norm, pass);
  ops::activate_gradient<T>(activation, saved.before, inner, inner, pass.threads);
  dense.backward(saved.x, inner, d, gradient.dense, pass);
}

template <class T>
void HeadTransform<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  dense.append_parameters(to, prefix + "dense.");
  norm.append_parameters(to, prefix + "norm.");
}

template struct HeadTransform<float>;
template struct HeadTransform<double>;

}  // namespace sextant
