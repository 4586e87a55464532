// The sizes all attention kernels share. They decide the bits of results: sums over keys are chains
// within a block, then over the blocks of a span, and a row's running maximum moves at the end of
// each block.
#pragma once

#include <cstdint>

namespace sextant::kernels {

inline constexpr int kQueryGroup = 16;  // queries that are hidden or skipped together
inline constexpr int kQueryBlock = 64;  // queries in a block of scores
inline constexpr int kKeyBlock = 128;  // keys in a block of scores, counted from a sequence's first
inline constexpr int kTaskQueries = 256;     // queries per pass over keys and values
inline constexpr std::int64_t kSpan = 4096;  // keys whose blocks are added in one chain

// Floats of a row whose channels come in whole groups of lanes; those beyond `width` are 0.
constexpr std::int64_t padded_width(std::int64_t width) noexcept {
  return (width + kQueryGroup - 1) / kQueryGroup * kQueryGroup;
}

// By how much, as a power of two, scores may exceed the running maximum before it is updated.
inline constexpr float kRescaleThreshold = 24.0F;

}  // namespace sextant::kernels
