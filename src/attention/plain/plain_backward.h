// Gradients row by row in float64: they run float64 calls, and define the result where there are
// infinities or NaN.
#pragma once

#include "attention/backward/sums.h"

namespace sextant::attention_detail {

// All wanted gradients, except for sums.finish(). The mask's gradient is added to.
template <class T>
void plain_backward(const BackwardArguments<T>& arguments, BackwardSums<T>& sums);

// One slice of it: a sequence and key head. `memory` holds plain_backward_scratch() doubles.
template <class T>
void plain_backward_slice(const BackwardArguments<T>& arguments, std::int64_t slice,
                          BackwardSums<T>& sums, double* memory);
template <class T>
std::int64_t plain_backward_scratch(const BackwardArguments<T>& arguments);

}  // namespace sextant::attention_detail
