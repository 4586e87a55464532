// Makes a bias with a learned number per head and distance, one for all distances beyond a limit:
// the scalar form of Shaw et al. 2018 (1803.02155, section 3.2).
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

// Returns values[head, key - query + length - 1] = table[clip(key - query, -K, K) + K, head],
// [heads, 2 length - 1]. Throws Error if an option or a shape is wrong, and unless length is in 1
// .. 2^28 with at most 2^31 numbers in the bias.
DistanceBias clipped(const Clipped& options, const ClippedWeights& weights, std::int64_t length);

// Returns the gradient of the weights from that of the bias, [heads, 2 length - 1]: for each row of
// the table, the sum over the distances that share it.
ClippedWeights clipped_backward(const Clipped& options, const ClippedWeights& weights,
                                View<const double> gradient);

}  // namespace sextant
