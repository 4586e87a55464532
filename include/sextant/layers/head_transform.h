// Transforms hidden states before the logits, in masked language models.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/layers/activation.h"
#include "sextant/layers/linear.h"
#include "sextant/layers/norm.h"

namespace sextant {

// Computes norm(activation(dense(x))), as in the heads of BERT (Devlin et al. 2018, 1810.04805).
template <class T>
struct HeadTransform {
  Activation activation;
  Linear<T> dense;  // [width, width]
  Norm<T> norm;

  // A gated activation uses its function of the gate. Throws Error unless width and epsilon are
  // positive.
  HeadTransform(std::int64_t width, Activation activation, NormKind norm, double epsilon,
                FirstWeights weights);

  struct Saved {
    View<const T> x, before;  // [rows, width]
    typename Norm<T>::Saved norm;
    View<const T> y;  // the result
  };
  // x: [rows, width], contiguous; the result is in the pass's memory.
  Saved forward(View<const T> x, Pass& pass) const;
  // Replaces d, the gradient of the result, by that of x, and adds to the gradient.
  void backward(const Saved& saved, View<T> d, HeadTransform& gradient, Pass& pass) const;
  // prefix + "dense.", prefix + "norm.".
  void append_parameters(Parameters<T>& to, const std::string& prefix);
};

}  // namespace sextant
