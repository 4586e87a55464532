// Rounding to 16-bit floating-point types, slow and obvious, for tests.
#include "reference/round16.h"

#include <cmath>
#include <limits>

namespace sextant::reference {

double value_of_16_bits(std::uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

std::uint16_t round_to_16_bits(double value, int exponent_bits) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int fraction_bits = 15 - exponent_bits;
  const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  if (std::isnan(value))
    return static_cast<std::uint16_t>(sign | infinity | 1 << (fraction_bits - 1));

  // Patterns without a sign count upwards with their values. The last one at or below |value|:
  const double magnitude = std::abs(value);
  std::uint16_t below = 0;
  for (int step = 0x4000; step > 0; step /= 2) {
    const auto next = static_cast<std::uint16_t>(below + step);
    if (next < infinity && value_of_16_bits(next, exponent_bits) <= magnitude) below = next;
  }
  // The pattern above; infinity counts as the number that would come next.
  const double low = value_of_16_bits(below, exponent_bits);
  const auto after = static_cast<std::uint16_t>(below + 1);
  const double high =
      after == infinity
          ? 2 * low - value_of_16_bits(static_cast<std::uint16_t>(below - 1), exponent_bits)
          : value_of_16_bits(after, exponent_bits);
  const double middle = low + (high - low) / 2;  // one bit more than the format has: exact
  const bool up = magnitude > middle || (magnitude == middle && below % 2 == 1);
  return static_cast<std::uint16_t>(sign | (up ? after : below));
}

}  // namespace sextant::reference
