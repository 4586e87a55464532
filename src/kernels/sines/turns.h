// A frequency as turns per position, and the exact sine and cosine of a position times a frequency.
#pragma once

#include <array>
#include <cstdint>

#include "core/numbers/double_double.h"
#include "core/numbers/wide_float.h"

namespace sextant::kernels {

// 0.mantissa * 2^exponent turns per position, cut to 256 bits. Angles in turns make the reduction
// free: the whole turns are the bits above the binary point of an integer product.
struct Turns {
  std::array<std::uint64_t, 4> mantissa{};  // lowest limb first; all zero for the frequency 0
  std::int64_t exponent = 0;                // <= kMaxExponent

  static constexpr std::int64_t kMaxExponent = 64;
};

// From radians per position, >= 0 and at most 2^64; from radians up to 2^118 for position 1 alone.
Turns turns_of(const WideFloat& radians_per_position) noexcept;

struct SineAndCosine {
  DoubleDouble sin;
  DoubleDouble cos;
};

// Of 2 pi * position * frequency. Relative error below 2^-98 of the larger, and of the smaller one
// too as long as it is above 2^-90: the product is exact to 2^-189 turns for |position| <= 2^53 and
// frequencies up to one turn.
SineAndCosine sine_and_cosine(const Turns& frequency, std::int64_t position) noexcept;
// The same for a real position; finite, |position| < 2^128.
SineAndCosine sine_and_cosine(const Turns& frequency, double position) noexcept;

}  // namespace sextant::kernels
