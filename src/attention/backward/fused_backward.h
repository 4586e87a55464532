// Gradients of float32 and 16-bit calls by the kernels.
#pragma once

#include "attention/backward/sums.h"

namespace sextant::attention_detail {

// All wanted gradients, except for sums.finish(). The mask's gradient must be zeros.
template <class T>
void fused_backward(const BackwardArguments<T>& arguments, BackwardSums<T>& sums);

}  // namespace sextant::attention_detail
