// The gradients of attention written out from the formulas over whole matrices, for tests, in any
// arithmetic: a wider one is the oracle, the same one the yardstick for what code may be off by.
#pragma once

#include <vector>

#include "reference/attention.h"
#include "sextant/core/tensor.h"

namespace sextant::reference {

struct AttentionGradient {
  Tensor<double> output;   // [batch, heads_q, q_len, v_dim], of the forward pass
  Tensor<double> q, k, v;  // the shapes of the inputs
  Tensor<double> added;    // [batch, heads_q, q_len, k_len]: of what is added to each score
  Tensor<double> sinks;    // [batch, heads_q]
};

// `sinks`: [heads_q] or empty. dout: [batch, heads_q, q_len, v_dim], like the output. Instantiated
// for float, double and long double.
template <class Real>
AttentionGradient attention_gradient(const Attention& call, const std::vector<double>& sinks,
                                     const Tensor<double>& dout);

}  // namespace sextant::reference
