// One 64-bit number from two: for random numbers that are functions of where they are used.
#pragma once

#include <cstdint>

namespace sextant {

// The output function of SplitMix64 (Steele, Lea and Flood 2014) over a seed and a place.
inline std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t place) noexcept {
  std::uint64_t z = seed + (place + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// In [0, 1), 53 bits.
inline double hash_uniform(std::uint64_t seed, std::uint64_t place) noexcept {
  return static_cast<double>(splitmix64(seed, place) >> 11) * 0x1p-53;
}

}  // namespace sextant
