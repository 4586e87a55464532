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

// to[column * to_stride + row] = from[row * from_stride + column]: tiles from rows and back.
void transpose_tile(const float* from, std::int64_t from_stride, std::int64_t rows,
                    std::int64_t columns, float* to, std::int64_t to_stride) noexcept;

// mass[j] += sum over all lanes of tile[j][lane].
void add_tile(const float* tile, std::int64_t keys, double* mass) noexcept;

// The keys with the largest weights of each lane so far, largest first, ties by the lower key.
struct TopKeys {
  std::int64_t top = 0;
  std::int64_t* keys = nullptr;  // [queries][top]; -1: none
  float* weights = nullptr;      // [queries][top]; 0 there
  // A key is listed if its weight is larger; 0 at first.
  alignas(64) float threshold[kQueryBlock] = {};

  // Keys of a lane come in ascending order.
  void add(std::int64_t lane, std::int64_t key, float weight) noexcept {
    if (!(weight > threshold[lane])) return;
    std::int64_t* to_keys = keys + lane * top;
    float* to_weights = weights + lane * top;
    std::int64_t index = top - 1;
    for (; index > 0 && to_weights[index - 1] < weight; --index) {
      to_weights[index] = to_weights[index - 1];
      to_keys[index] = to_keys[index - 1];
    }
    to_weights[index] = weight;
    to_keys[index] = key;
    threshold[lane] = to_weights[top - 1];
  }
};
void keep_top_keys(const float* tile, std::int64_t first_key, std::int64_t keys,
                   TopKeys& top_keys) noexcept;

}  // namespace sextant::kernels
