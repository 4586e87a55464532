// Generates seeded random numbers that are the same on every machine and equal those of NumPy's
// legacy generator.
#pragma once

#include <cstdint>
#include <random>

namespace sextant {

// numpy.random.RandomState(seed): Mersenne Twister, 53-bit doubles. The stream of random_sample()
// and standard_normal() equals NumPy's bit for bit.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed);
  double uniform() noexcept;  // [0, 1), 53 bits: random_sample()
  double normal() noexcept;   // mean 0, deviation 1, the polar method: standard_normal()
  std::uint32_t bits() noexcept { return static_cast<std::uint32_t>(generator_()); }

 private:
  std::mt19937 generator_;
  bool has_second_ = false;  // the polar method makes two values at a time
  double second_ = 0;
};

}  // namespace sextant
