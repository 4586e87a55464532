// The copy mechanism for decoding: rows of one sequence.
#include "sextant/layers/pointer.h"

#include <algorithm>
#include <cmath>

#include "layers/copy_attention.h"
#include "layers/plain_ops.h"

namespace sextant {

template <class T>
Pointer<T>::Pointer(std::int64_t width, FirstWeights weights)
    : to_q(Linear<T>::glorot(width, width, weights, false)),
      to_k(Linear<T>::glorot(width, width, weights, false)),
      gate(Linear<T>::glorot(width, 1, weights)) {}

template <class T>
View<T> Pointer<T>::keys(View<const T> context, Pass& pass) const {
  const View<T> keys = pass.memory.take<T>(context.shape());
  to_k.forward(context, keys, pass);
  return keys;
}

template <class T>
void Pointer<T>::mix(View<const T> h, View<const T> keys, std::span<const std::int64_t> source,
                     View<T> logits, View<T> copied, Pass& pass) const {
  const std::int64_t rows = h.size(0), vocabulary = logits.size(1);
  const Workspace::Scope scope(pass.memory);
  const View<T> q = pass.memory.take<T>({rows, h.size(1)});
  const View<T> gates = pass.memory.take<T>({rows, 1});
  const View<T> a = pass.memory.take<T>({rows, keys.size(0)});
  to_q.forward(h, q, pass);
  gate.forward(h, gates, pass);
  layers::copy_attention<T>(q, keys, a);
  for (std::int64_t i = 0; i < rows; ++i) {
    T* line = logits.data() + i * vocabulary;
    const double g = layers::sigmoid(static_cast<double>(gates(i, 0)));
    const auto powers = ops::plain::exp_sum(line, vocabulary);
    for (std::int64_t w = 0; w < vocabulary; ++w) {
      line[w] =
          static_cast<T>(g * std::exp(static_cast<double>(line[w]) - powers.largest) / powers.sum);
    }
    for (std::int64_t j = 0; j < a.size(1); ++j) {
      const double part = (1 - g) * static_cast<double>(a(i, j));
      T& to = line[source[static_cast<std::size_t>(j)]];
      to = static_cast<T>(static_cast<double>(to) + part);
      if (copied.count() > 0) copied(i, j) = static_cast<T>(part);
    }
    for (std::int64_t w = 0; w < vocabulary; ++w) {
      line[w] = static_cast<T>(std::log(std::max(static_cast<double>(line[w]), 1e-300)));
    }
  }
}

template <class T>
void Pointer<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  to_q.append_parameters(to, prefix + "to_q.");
  to_k.append_parameters(to, prefix + "to_k.");
  gate.append_parameters(to, prefix + "gate.");
}

template struct Pointer<float>;
template struct Pointer<double>;

}  // namespace sextant
