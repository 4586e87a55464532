// Checks that the makers of position ids share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/numbers/max_position.h"
#include "sextant/core/error.h"

namespace sextant {

inline constexpr std::int64_t kMaxIds = std::int64_t{1} << 30;

inline void check_count(std::string_view where, std::int64_t count) {
  if (count >= 0 && count <= kMaxIds) return;
  throw Error(where, "must make 0 .. 2^30 ids, got " + std::to_string(count));
}

inline void check_id(std::string_view where, std::int64_t id) {
  if (id >= -kMaxPosition && id <= kMaxPosition) return;
  throw Error(where, "must keep ids within +-2^53, got " + std::to_string(id));
}

// Multiplies counts of 0 or more; a product that is too large becomes larger than any allowed
// count.
inline std::int64_t checked_product(std::int64_t a, std::int64_t b) noexcept {
  return a != 0 && b > kMaxIds / a ? kMaxIds + 1 : a * b;
}

}  // namespace sextant
