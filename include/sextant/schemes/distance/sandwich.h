// Makes Sandwich's bias: scores fall as inner products of sinusoidal positions do (Chi et al. 2022,
// 2212.10356, section 4).
#pragma once

#include <cstdint>

#include "sextant/tables/distance_bias.h"

namespace sextant {

struct Sandwich {
  std::int64_t heads = 1;  // 1 .. 2^20
  std::int64_t dim = 128;  // width of the sinusoids, even, 2 .. 2^16; not the channels of a head
  double base = 10000;     // > 0, finite
};

// Returns values[head, key - query + length - 1], [heads, 2 length - 1]: heads / (8 (head + 1)) *
// sum_{k < dim / 2} cos(distance base^(-2k / dim)), in float64, rounded once. Throws Error if an
// option is out of its range, and unless length is in 1 .. 2^28 with at most 2^31 numbers in the
// bias.
DistanceBias sandwich(const Sandwich& options, std::int64_t length);

}  // namespace sextant
