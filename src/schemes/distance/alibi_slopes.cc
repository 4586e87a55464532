// ALiBi's slopes.
#include "sextant/schemes/distance/alibi_slopes.h"

#include <bit>
#include <cmath>

#include "schemes/descriptors.h"

namespace sextant {

std::vector<double> alibi_slopes(std::int64_t heads, double max_bias) {
  check_range(kHeads, "alibi_slopes.heads", heads);
  check_range(NumberRange{0, 1000}, "alibi_slopes.max_bias", max_bias);
  const auto power =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));  // n
  std::vector<double> slopes;
  slopes.reserve(static_cast<std::size_t>(heads));
  // The quotients are exact: the divisors are powers of two.
  const auto add = [&](std::int64_t numerator, std::int64_t denominator) {
    slopes.push_back(
        std::exp2(-max_bias * static_cast<double>(numerator) / static_cast<double>(denominator)));
  };
  for (std::int64_t h = 1; h <= power; ++h) add(h, power);
  for (std::int64_t h = 1; h <= heads - power; ++h) add(2 * h - 1, 2 * power);
  return slopes;
}

}  // namespace sextant
