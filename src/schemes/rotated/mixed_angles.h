// Cosines and sines of sums of two angles: each axis has exact rows of its own, a row of the table
// is one turned by the other.
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
