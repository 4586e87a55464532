// Gradients one row after the other in float64: what float64 calls run, and what defines the result
// where infinities and NaN come up.
#pragma once

#include "attention/backward/sums.h"

namespace sextant::detail {

// All that is wanted, but for sums.finish(). The mask's gradient is added to what is there.
template <class T>
void plain_backward(const BackwardArguments<T>& arguments, BackwardSums<T>& sums);

// One unit of it: a sequence and key head. `memory` holds plain_backward_scratch() doubles.
template <class T>
void plain_backward_unit(const BackwardArguments<T>& arguments, std::int64_t unit,
                         BackwardSums<T>& sums, double* memory);
template <class T>
std::int64_t plain_backward_scratch(const BackwardArguments<T>& arguments);

}  // namespace sextant::detail
