// The kernel of attention_weights(): scores or weights of up to kQueryBlock chosen queries of one
// head, a block of keys at a time. Sums have the bits of the forward kernel.
#pragma once

#include <cstdint>

#include "kernels/attention/block.h"

namespace sextant::kernels {

// Receives keys [first_key, first_key + keys), at most kKeyBlock: tile[j * kQueryBlock + i] is that
// of query i and key first_key + j. Lanes without a query hold any finite number, and 0 as weights.
struct ScoreTiles {
  void (*take)(void* context, std::int64_t first_key, std::int64_t keys,
               const float* tile) = nullptr;
  void* context = nullptr;  // take and context: null when no tiles are needed
};

// One task.
struct ScoreBlock {
  // At most kQueryBlock queries. Queries, bias tiles, key_begin, key_end and log_sum_exp number the
  // lanes; `line`, v and out are not used. Without `probabilities`, scores are in the units of
  // scale, softcap and biases.
  AttentionBlock scores{};
  const std::int64_t* rows = nullptr;  // [queries]: which rows of q (and of its rotation) they are
  // Weights, 0 where hidden, or scores with -infinity where hidden. Blocks of keys that are hidden
  // from all queries are skipped.
  bool probabilities = false;
  ScoreTiles tiles{};
  double* entropy = nullptr;  // [kQueryBlock] or null: filled with -sum(p ln p) over the keys; only
                              // with `probabilities`
};

std::int64_t score_block_scratch(const ScoreBlock& block) noexcept;

// Returns the queries whose weights are not finite, as bits: the plain path computes those. Their
// weights are given as 0, their sums are not filled.
std::uint64_t score_block(const ScoreBlock& block, float* scratch);

}  // namespace sextant::kernels
