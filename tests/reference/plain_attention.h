// Attention as one would write it in float32, for tests: the yardstick of what errors are to be
// expected of that many digits.
#pragma once

#include "reference/attention.h"

namespace sextant::reference {

// The output of attend() with every operation rounded to float32: sums in the order of the index,
// scores minus their maximum, std::exp.
Tensor<float> plain_attend(const Attention& call);

}  // namespace sextant::reference
