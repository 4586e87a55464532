// Gradients of float32 and 16-bit calls by the kernels.
#pragma once

#include "attention/backward/sums.h"
#include "attention/forward/fused.h"

namespace sextant::attention_detail {

// All wanted gradients, except for sums.finish(). The mask's gradient must be zeros.
void fused_backward(const BackwardArguments& arguments, BackwardSums& sums);

}  // namespace sextant::attention_detail
