// Binary positions: each column is a bit of the position (Authors year, arXiv id, section).
#pragma once

#include <cstdint>
#include <span>

#include "sextant/core/tensor.h"

namespace sextant {

struct NewScheme {
  std::int64_t width = 0;  // 1 .. 2^30
  double scale = 1;        // of every bit; finite
};

// [positions.size(), width]: column c holds scale times bit c of the position, in two's complement;
// columns from 63 on the sign. Throws Error when an option is out of its range.
Tensor<double> new_scheme(const NewScheme& options, std::span<const std::int64_t> positions);

}  // namespace sextant
