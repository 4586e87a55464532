// A learned number per head and distance, distances beyond a limit sharing one: the scalar form of
// Shaw et al. 2018 (1803.02155, section 3.2).
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

struct Clipped {
  std::int64_t max_distance = 16;  // K, 0 .. 2^28
};
struct ClippedWeights {
  Tensor<double> table{};  // [2 K + 1, heads], finite
};

// values[head, key - query + length - 1] = table[clip(key - query, -K, K) + K, head], [heads, 2
// length - 1]. Throws Error when an option or a shape is wrong, and unless length is in 1 .. 2^28
// with at most 2^31 numbers in the bias.
DistanceBias clipped(const Clipped& options, const ClippedWeights& weights, std::int64_t length);

// The gradient of the weights from that of the bias, [heads, 2 length - 1]: of the table its sums
// over the distances that share a row.
ClippedWeights clipped_backward(const Clipped& options, const ClippedWeights& weights,
                                View<const double> gradient);

}  // namespace sextant
