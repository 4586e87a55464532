// Makes KERPLE's bias: scores fall with the logarithm or a power of the distance, with learned
// rates (Chi et al. 2022, 2205.09921, section 4).
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

// One number of each per head. As in the paper's code, numbers below 0.01 count as 0.01 (and powers
// p above 2 as 2) in all uses.
struct KerpleWeights {
  std::vector<double> p{}, a{};  // finite, equally many of both, 1 .. 2^20
};

// Return values[head, key - query + length - 1], [heads, 2 length - 1], |d| the distance: -p ln(1 +
// a |d|), equation 3, and -a |d|^p, equation 2, in float64, rounded once. Throw Error if a number
// is wrong, and unless length is in 1 .. 2^28 with at most 2^31 numbers in the bias.
DistanceBias kerple_log(const KerpleWeights& weights, std::int64_t length);
DistanceBias kerple_power(const KerpleWeights& weights, std::int64_t length);

// Return the gradients of p and a from that of the bias, [heads, 2 length - 1]. A number beyond a
// limit has the gradient at the limit: a step followed by clamping is a step of projected gradient
// descent. |0|^p is 0 for every p: its derivative is 0.
KerpleWeights kerple_log_backward(const KerpleWeights& weights, View<const double> gradient);
KerpleWeights kerple_power_backward(const KerpleWeights& weights, View<const double> gradient);

}  // namespace sextant
