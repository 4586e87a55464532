// What several schemes do together: tables of one kind become one table.
#pragma once

#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/rotation_table.h"

namespace sextant::layers {

// Each puts both into the first, in any order the same. Throws Error, naming positions.scheme, for
// tables that do not fit together.
void combine(Tensor<double>& rows, const Tensor<double>& more);
void combine(RotationTable<double>& rotation, const RotationTable<double>& more);
void combine(DistanceBias& bias, const DistanceBias& more);

}  // namespace sextant::layers
