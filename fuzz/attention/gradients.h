// The gradients of a call against those of the float64 oracle.
#pragma once

#include "call.h"
#include "choices.h"
#include "expected.h"

namespace sextant::fuzz {

// Runs attention_backward() on a call that attention() has filled the output of, and checks all
// gradients that `choices` ask for. Nothing is done where infinities or NaN are seen, or where
// scores are so large that their rounding errors decide.
template <class T>
void check_gradients(const Call<T>& call, const Expected& expected, Choices& choices);

}  // namespace sextant::fuzz
