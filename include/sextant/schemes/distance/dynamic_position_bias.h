// Makes a dynamic position bias: a small network computes each head's bias from the distance, as
// x-transformers does (dynamic_pos_bias), after CrossFormer (Wang et al. 2021, 2108.00154, section
// 3.3), where it computes from two offsets.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

struct DynamicPositionBias {
  bool log_distance = false;  // the input is sign(d) ln(|d| + 1) instead of d
};
// Layers of depth hidden layers of the same size, as torch.nn.Linear stores them; all finite.
struct DynamicPositionBiasWeights {
  Tensor<double> w_in{}, b_in{};          // [hidden]
  Tensor<double> w_hidden{}, b_hidden{};  // [depth - 1, hidden, hidden] and [depth - 1, hidden]
  Tensor<double> w_out{};                 // [heads, hidden]
  Tensor<double> b_out{};                 // [heads]
};

// Returns values[head, key - query + length - 1], [heads, 2 length - 1], with d = query - key:
//   h_1 = silu(w_in d + b_in),  h_(n+1) = silu(w_hidden[n - 1] h_n + b_hidden[n - 1])
//   bias = w_out h_depth + b_out,  silu(x) = x / (1 + exp(-x))
// It is computed in float64 and rounded once. Throws Error if shapes do not fit, if the depth is
// below 2, if a bias is not finite, and unless length is in 1 .. 2^28 with at most 2^31 numbers in
// the bias.
DistanceBias dynamic_position_bias(const DynamicPositionBias& options,
                                   const DynamicPositionBiasWeights& weights, std::int64_t length);

// Returns the gradient of the weights from that of the bias, [heads, 2 length - 1].
DynamicPositionBiasWeights dynamic_position_bias_backward(const DynamicPositionBias& options,
                                                          const DynamicPositionBiasWeights& weights,
                                                          View<const double> gradient);

}  // namespace sextant
