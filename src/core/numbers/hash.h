// A quick number that depends on every byte, for seeds and comparisons; not against an adversary.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

// Fowler, Noll and Vo's FNV-1a, 64 bits. `before` is the hash of the bytes before these.
constexpr std::uint64_t fnv1a(std::string_view bytes,
                              std::uint64_t before = 0xcbf29ce484222325u) noexcept {
  for (const char byte : bytes) {
    before = (before ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return before;
}

}  // namespace sextant
