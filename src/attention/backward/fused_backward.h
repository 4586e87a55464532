// Gradients of float32 and 16-bit calls by the kernels.
#pragma once

#include "attention/backward/sums.h"
#include "attention/forward/fused.h"

namespace sextant::attention_detail {

// Whether the kernels take a call: terms before the softcap, and those that read rows, have
// gradients by rows only.
inline bool takes_fused_path(const BackwardArguments& arguments) {
  return arguments.scores.logit_term.term == nullptr && !arguments.scores.terms_read_rows() &&
         takes_fused_path(arguments.scores);
}

// All wanted gradients, except for sums.finish(). The mask's gradient must be zeros.
void fused_backward(const BackwardArguments& arguments, BackwardSums& sums);

}  // namespace sextant::attention_detail
