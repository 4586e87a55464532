// A step cut into batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sextant {

// Items [first, last) of batch number `part` when `count` are cut into min(parts, count) batches of
// sizes that differ by one at most.
inline std::pair<std::int64_t, std::int64_t> part_of(std::int64_t count, std::int64_t part,
                                                     std::int64_t parts) {
  parts = std::min(parts, count);
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace sextant
