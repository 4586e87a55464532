// The largest position id, coordinate or length.
#pragma once

#include <cstdint>

namespace sextant {

// Integers up to 2^53 are exact in float64.
inline constexpr std::int64_t kMaxPosition = std::int64_t{1} << 53;
inline constexpr double kMaxCoordinate = 0x1p53;

}  // namespace sextant
