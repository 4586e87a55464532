// What the tests of row operations share: random numbers and the sizes around vectors and blocks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace sextant {

constexpr std::initializer_list<std::int64_t> kWidths = {1, 2, 3, 5, 15, 16, 17, 64, 67, 200};

inline std::vector<float> normal_numbers(std::int64_t count, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> number(0, scale);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& value : numbers) value = number(random);
  return numbers;
}

inline double wide(float x) { return static_cast<double>(x); }

}  // namespace sextant
