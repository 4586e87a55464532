// The sizes all attention kernels share. They decide the bits of results: a row's running maximum
// moves at the end of each key block.
#pragma once

#include <cstdint>

namespace sextant::kernels {

inline constexpr int kGroupLanes = 16;  // queries that are hidden or skipped together
inline constexpr int kBlockLanes = 64;  // queries in a block of scores
inline constexpr int kKeyBlock = 128;  // keys in a block of scores, counted from a sequence's first
inline constexpr int kBlockQueries = 256;  // queries per pass over keys and values

// Floats of a row whose channels come in whole groups of lanes; those beyond `width` are 0.
constexpr std::int64_t padded_width(std::int64_t width) noexcept {
  return (width + kGroupLanes - 1) / kGroupLanes * kGroupLanes;
}

// By how much, as a power of two, scores may exceed the running maximum before it is updated.
inline constexpr float kMaximumSlack = 24.0F;

}  // namespace sextant::kernels
