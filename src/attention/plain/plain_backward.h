// Gradients row by row in float64: they run float64 calls, and define the result where there are
// infinities or NaN.
#pragma once

#include "attention/backward/sums.h"

namespace sextant::attention_detail {

// All wanted gradients, except for sums.finish(). The mask's gradient is added to.
void plain_backward(const BackwardArguments& arguments, BackwardSums& sums);

// One slice of it: a sequence and key head. `memory` holds plain_backward_scratch() doubles.
void plain_backward_slice(const BackwardArguments& arguments, std::int64_t slice,
                          BackwardSums& sums, double* memory);
std::int64_t plain_backward_scratch(const BackwardArguments& arguments);

}  // namespace sextant::attention_detail
