// The gradients of attention written out from the formulas over whole matrices, for tests, in any
// arithmetic: a wider one is the oracle, the same one the yardstick for what code may be off by.
#pragma once

#include <type_traits>
#include <vector>

#include "reference/attention.h"
#include "reference/rounding_error.h"
#include "sextant/core/tensor.h"

namespace sextant::reference {

template <class Number>
struct GradientOf {
  Tensor<Number> output;   // [batch, heads_q, q_len, v_dim], of the forward pass
  Tensor<Number> q, k, v;  // the shapes of the inputs
  Tensor<Number> added;    // [batch, heads_q, q_len, k_len]: of what is added to each score
  Tensor<Number> sinks;    // [batch, heads_q]
};
using AttentionGradient = GradientOf<double>;

// What results of an arithmetic are kept as.
template <class Real>
using KeptAs = std::conditional_t<std::is_same_v<Real, long double>, double, Real>;

// `sinks`: [heads_q] or empty. dout: [batch, heads_q, q_len, v_dim], like the output. `stored`: the
// output as it is read back, where it was stored in fewer digits. Instantiated for float, double,
// long double and RoundingError.
template <class Real>
GradientOf<KeptAs<Real>> attention_gradient(const Attention& call, const std::vector<double>& sinks,
                                            const Tensor<double>& dout,
                                            const Tensor<double>* stored = nullptr);

}  // namespace sextant::reference
