// Tables of rotations by two ids a row, each with a frequency for every pair.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// cos and sin [rows, pairs] of the angles ids(row, 0) x[pair] + ids(row, 1) y[pair], rounded once.
// Frequencies are finite, of any sign and at most 2^64 in size, ids within +-2^53. The value of a
// pair of ids has the same bits in any row of any call that has the ids in the same order.
template <Floating T>
void fill_plane(std::span<const double> x, std::span<const double> y, View<const std::int64_t> ids,
                T* cos, T* sin, int threads);

}  // namespace sextant
