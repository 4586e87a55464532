// The positions that may occur in a call, and whether biases and rotations have them.
#pragma once

#include <string_view>

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

// The positions that may occur: distances of pairs, masks aside, and positions of queries and keys.
struct PositionRanges {
  PositionRange distances, queries, keys;
};

PositionRanges position_ranges(const AttentionCall& call);

// Throws Error unless the bias is for the heads of q and has every distance that a row reads: a
// guess (0, the last one, hidden) would be a silent mistake for one scheme or another.
void check_bias(std::string_view function, const AttentionCall& call,
                const PositionRange& distances);

// Throws Error unless the rotation is for the heads and channels and has every position.
void check_rotation(std::string_view function, const AttentionCall& call,
                    const PositionRanges& ranges);

}  // namespace sextant::attention_detail
