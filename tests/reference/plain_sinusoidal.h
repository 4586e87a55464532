// Sinusoidal tables straight from the formula, one entry at a time, in long double: slow, and
// nothing to share with the library but the names of the options.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::reference {

// The value at a position and a column, unrounded when precision is exact: the angle is good to
// 2^-63 of itself.
double plain_sinusoidal(const Sinusoidal& options, std::int64_t position, std::int64_t column);

// Rows first .. first + length - 1.
Tensor<double> plain_sinusoidal_table(const Sinusoidal& options);

}  // namespace sextant::reference
