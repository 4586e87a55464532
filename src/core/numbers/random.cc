// The doubles and normals that NumPy's RandomState makes from the Mersenne Twister's 32-bit stream.
#include "sextant/core/random.h"

#include <cmath>
#include <utility>

namespace sextant {

// std::mt19937 seeds itself exactly as init_genrand (Matsumoto and Nishimura 2002), which
// RandomState(seed) uses.
NumpyRandom::NumpyRandom(std::uint32_t seed) : generator_(seed) {}

double NumpyRandom::uniform() noexcept {
  // genrand_res53: 27 high bits and 26 low bits of a 53-bit fraction. Two statements, because the
  // order matters.
  const std::uint32_t high = bits() >> 5;
  const std::uint32_t low = bits() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double NumpyRandom::normal() noexcept {
  if (std::exchange(has_second_, false)) return second_;
  // Marsaglia's polar method: a point in the unit disc gives two independent normals, the second of
  // which is used first.
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2.0 * uniform() - 1.0;
    y = 2.0 * uniform() - 1.0;
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * std::log(square) / square);
  second_ = factor * x;
  has_second_ = true;
  return factor * y;
}

}  // namespace sextant
