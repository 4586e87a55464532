// Holds biases that depend only on the distance, key - query: one number per head and distance,
// added to the scores.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

// Has a table, a slope per head, or both, which then add up; never an N x N array. The operator
// throws Error if shapes, distances or slopes do not fit a call.
struct DistanceBias {
  // [heads or 1, distances]: values[head or 0, distance + origin]; -infinity hides the pair. Must
  // hold every distance of the call. May be a default Tensor if there are slopes.
  Tensor<float> values{};
  std::int64_t origin = 0;  // the column of distance 0: for [heads, 2L - 1] it is L - 1
  // [heads] or empty: adds -slopes[head] * |distance| at any distance, without a table. Finite.
  std::vector<double> slopes{};

  // Whether there is a table; without one there must be slopes.
  bool has_table() const noexcept {
    return slopes.empty() || values.rank() != 1 || values.count() > 0;
  }
};

// The arrays for the gradients of a DistanceBias. Empty ones are not computed.
template <class T>
struct DistanceBiasGradient {
  MemberView<T> values{};  // the shape of the table; summed over the heads that share a row of it
  MemberView<T> slopes{};  // [heads]
};

}  // namespace sextant
