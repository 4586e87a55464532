// Rounding to 16-bit floating-point types, slow and obvious, for tests.
#pragma once

#include <cstdint>

namespace sextant::reference {

// The bit pattern nearest to `value`, ties to the even pattern, found by bisection over the values
// of all finite patterns of a format with `exponent_bits` (5: float16, 8: bfloat16). NaN gives the
// quiet NaN with the same sign and no payload.
std::uint16_t round_to_16_bits(double value, int exponent_bits);

// The value of a bit pattern, from the definition: (-1)^sign * significand * 2^exponent.
double value_of_16_bits(std::uint16_t bits, int exponent_bits);

}  // namespace sextant::reference
