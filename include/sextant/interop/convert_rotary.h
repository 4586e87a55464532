// Converts between the two layouts of rotary pairs, which are two orders of the rows of the
// projections of q and k. A model with permuted rows that rotates in the other layout gives the
// same scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/npy.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

// The channels of one head, and which of them are rotated.
struct RotaryRows {
  std::int64_t head_dim = 0;    // 2 .. 2^30
  std::int64_t rotary_dim = 0;  // even, <= head_dim; 0: all (head_dim must be even then)
  RotarySpan span = RotarySpan::first;
};

// Returns the source of each channel of a head, [head_dim]: channel c of the new layout is channel
// result[c] of the other one. With n rotated channels, half_split takes old[2r] for r < n/2 and
// then old[2r + 1]; interleaved takes old[r] and old[r + n/2] alternately; the other channels stay.
std::vector<std::int64_t> rotary_permutation(const RotaryRows& rows, RotaryLayout to);

// Permute in place, in any element type and without changing a bit: the rows of a projection of q
// or k [heads * head_dim, in], its bias [heads * head_dim], or the factors of the channels of each
// head [head_dim] (the weight of a norm after the projection). Only axis 0 changes; its size must
// be a multiple of head_dim, and each head_dim of rows is one head: k has as many as it has heads
// of keys. If an array holds q, k and v, give rows [begin, end) of axis 0; end -1: all. Throws
// Error for an array of rank 0, for rows that are no whole number of heads, and for an option out
// of range.
void to_half_split(Array& weights, const RotaryRows& rows, std::int64_t begin = 0,
                   std::int64_t end = -1);
void to_interleaved(Array& weights, const RotaryRows& rows, std::int64_t begin = 0,
                    std::int64_t end = -1);

}  // namespace sextant
