// Makes a mask from lists of key blocks: block-sparse attention (Child et al. 2019, 1904.10509),
// also with blocks that were selected by content (Yuan et al. 2025, 2502.11089).
#pragma once

#include <cstdint>
#include <memory>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct BlockMask {
  std::int64_t query_block = 64, key_block = 64;  // tokens of a block, 1 .. 2^20
  std::int64_t group = 1;  // adjacent heads of q that share a list, as with grouped heads, >= 1
};

// Returns 0 for the keys of the blocks that are listed for a query, else -infinity. block_indices
// [batch or 1, heads / group or 1, query_blocks, n]: query i of the call, counted from its first,
// sees key j if j / key_block is in block_indices(batch, head / group, i / query_block, :), in any
// order; -1 is no block. Position ids have no effect. Memory is that of the lists. Blocks of 64
// queries and 128 keys that are hidden as a whole are not computed, so multiples are fastest.
//
// Throws Error for sizes out of range, another rank, and indices outside -1 .. 2^31. Calls are
// refused that have segments, another batch or number of heads, a q_len of other query blocks, or
// fewer key blocks than a list names.
std::shared_ptr<const ScoreTerm> block_mask(const BlockMask& sizes,
                                            View<const std::int64_t> block_indices);

}  // namespace sextant
