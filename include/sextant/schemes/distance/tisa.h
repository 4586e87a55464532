// Makes TISA's bias: each head's bias is a sum of Gaussians of the distance (Wennberg & Henter
// 2021, 2106.01950, equation 6).
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

// All [heads, kernels], finite.
struct TisaWeights {
  Tensor<double> amplitudes{}, sharpness{}, offsets{};
};

// Returns values[head, key - query + length - 1], [heads, 2 length - 1]: sum over s of amplitudes_s
// exp(- |sharpness_s| (distance - offsets_s)^2), distance = key - query, in float64, rounded once.
// Throws Error if the weights do not fit or are not finite, and unless length is in 1 .. 2^28 with
// at most 2^31 numbers in the bias.
DistanceBias tisa(const TisaWeights& weights, std::int64_t length);

// Returns the gradients of the weights from that of the bias, [heads, 2 length - 1]. If sharpness
// is 0 its gradient is 0, the mean of the one-sided derivatives.
TisaWeights tisa_backward(const TisaWeights& weights, View<const double> gradient);

}  // namespace sextant
