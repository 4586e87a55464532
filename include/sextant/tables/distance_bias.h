// Biases that depend on the distance alone: one number per head and distance, added to the score.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"

namespace sextant {

// values[head or 0, key - query + origin]; -infinity hides a pair. Never an N x N array.
struct DistanceBias {
  Tensor<float> values;     // [heads or 1, distances]
  std::int64_t origin = 0;  // the column of distance 0: for [heads, 2L - 1] it is L - 1
};

}  // namespace sextant
