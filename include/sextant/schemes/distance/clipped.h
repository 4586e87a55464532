// A learned number per head and distance, the farthest ones shared: the scalar form of Shaw et al.
// 2018 (1803.02155, section 3.2).
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

// values[head, key - query + length - 1] = table[clip(key - query, -K, K) + K, head], [heads, 2
// length - 1]. table: [2 K + 1, heads], finite, K at most 2^28. Throws Error when the table is none
// of these, and unless length is in 1 .. 2^28 with at most 2^31 numbers in the bias.
DistanceBias clipped(View<const double> table, std::int64_t length);

// The gradient of the table, [2 max_distance + 1, heads], from that of the bias, [heads, 2 length -
// 1]: its sums over the distances that share a row.
Tensor<double> clipped_backward(std::int64_t max_distance, View<const double> gradient);

}  // namespace sextant
