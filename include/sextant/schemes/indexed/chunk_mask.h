// Makes chunked attention: tokens attend only to tokens of the same chunk, as in Llama 4's layers
// with rotation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/tables/score_term.h"

namespace sextant {

struct ChunkMask {
  std::int64_t chunk = 8192;  // ids of a chunk, >= 1
  bool causal = true;         // hide the future within a chunk
};

// Returns 0 if floor(key id / chunk) = floor(query id / chunk), and key id <= query id if causal;
// else -infinity. Token n of the sequence has the id positions[n]: key n, and query n - offset.
// Position ids of the call of attention() replace the list. Calls with more tokens are refused.
// Throws Error unless chunk >= 1 and ids are within +-2^53.
std::shared_ptr<const ScoreTerm> chunk_mask(const ChunkMask& options,
                                            std::span<const std::int64_t> positions);

}  // namespace sextant
