// Computes tAPE: sinusoidal positions whose frequencies are scaled by width / length, so that the
// rows of a short or narrow series still differ (Foumani et al. 2023, 2305.16642, equation 13).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

struct Tape {
  std::int64_t width = 0;                             // columns, 1 .. 2^30
  std::optional<std::int64_t> length = std::nullopt;  // of the series, 1 .. 2^53; unset: the
                                                      // largest position + 1
  double base = 10000;                                // >= 1, finite
  double scale = 1;  // multiplies every value before the rounding; finite
  int threads = 0;   // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Returns the table [positions.size(), width]: with w_k = base^(-2k / width) width / length, sin(p
// w_k) in column 2k and cos(p w_k) in column 2k + 1; the last column of an odd width is a sine.
// Frequencies are exact, so float32 and narrower are within 0.5001 units in the last place and
// float64 within 0.51. Throws Error if an option is out of its range or a position is beyond
// +-2^53.
template <Floating T = float>
Tensor<T> tape(const Tape& options, std::span<const std::int64_t> positions);

}  // namespace sextant
