// The positions that may occur in a call, which tables must have.
#pragma once

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

// The positions that may occur: distances of pairs, masks aside, and positions of queries and keys.
struct PositionRanges {
  PositionRange distances, queries, keys;
};

PositionRanges position_ranges(const AttentionCall& call);

}  // namespace sextant::attention_detail
