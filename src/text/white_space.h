// Unicode's white space, without its tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace sextant {

// White_Space; the list has not changed since version 6.3.
inline bool is_white_space(std::uint32_t code) {
  constexpr std::uint32_t kOthers[] = {0x20,   0x85,   0xA0,   0x1680, 0x2028,
                                       0x2029, 0x202F, 0x205F, 0x3000};
  return (code >= '\t' && code <= '\r') || (code >= 0x2000 && code <= 0x200A) ||
         std::ranges::find(kOthers, code) != std::end(kOthers);
}

}  // namespace sextant
