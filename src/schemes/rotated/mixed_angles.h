// Cosines and sines of sums of two angles: each axis has exact rows, a row of the table is
// the sum of one of each.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

// Of one head: cos and sin [ids.size(0), pairs] of ids(row, 0) * x[k] + ids(row, 1) * y[k]. Ids
// within
// +-2^53, frequencies finite and within +-2^64.
template <Floating T>
void fill_mixed(std::span<const double> x, std::span<const double> y, View<const std::int64_t> ids,
                T* cos, T* sin, int threads);

}  // namespace sextant
