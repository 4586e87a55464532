// Scales rotary positions by a larger base: NTK-aware scaling (bloc97, 2023; YaRN, 2309.00071,
// section 3.1).
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

// The base becomes base * factor^(n / (n - 2)), where n is the number of rotated channels, more
// than 2: the last pair is slowed by exactly the factor, the first one not at all.
struct NtkScaling {
  static constexpr std::string_view name = "rotary_ntk";  // name of the scheme
  double factor = 4;  // > 0, finite; new length over trained length
};

// Returns the larger base for n = rotary_dim, within a few units in the last place. Throws Error
// unless base > 0 and rotary_dim is above 2 and for a factor out of its range.
double ntk_base(double base, std::int64_t rotary_dim, const NtkScaling& scaling);

}  // namespace sextant
