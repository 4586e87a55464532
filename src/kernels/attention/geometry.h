// The sizes all attention kernels share. They decide the bits of results: a row's running maximum
// moves at the end of each key block.
#pragma once

namespace sextant::kernels {

inline constexpr int kGroupLanes = 16;  // queries that are hidden or skipped together
inline constexpr int kBlockLanes = 64;  // queries in a block of scores
inline constexpr int kKeyBlock = 128;  // keys in a block of scores, counted from a sequence's first
inline constexpr int kBlockQueries = 256;  // queries per pass over keys and values

// By how much, as a power of two, scores may exceed the running maximum before it is updated.
inline constexpr float kMaximumSlack = 24.0F;

}  // namespace sextant::kernels
