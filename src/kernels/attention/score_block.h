// The kernel that shows what attention looks at: scores or weights of up to kBlockLanes chosen
// queries of one head, handed out a block of keys at a time. What is summed up is summed as in the
// forward kernel, bit for bit.
#pragma once

#include <cstdint>

#include "kernels/attention/block.h"

namespace sextant::kernels {

// Takes keys [first_key, first_key + keys), at most kKeyBlock: tile[j * kBlockLanes + i] is that of
// query i and key first_key + j. Lanes that are no query hold anything finite, and 0 as weights.
struct ScoreTiles {
  void (*take)(void* context, std::int64_t first_key, std::int64_t keys,
               const float* tile) = nullptr;
  void* context = nullptr;  // take and context: null when tiles are not wanted
};

// One task.
struct ScoreBlock {
  // At most kBlockLanes queries. Queries, bias tiles, first, last and log_sum_exp number the lanes;
  // `line`, v and out are not used. Without `probabilities`, scale, softcap and biases decide about
  // the unit.
  AttentionBlock scores{};
  const std::int64_t* rows = nullptr;  // [queries]: which rows of q (and of its rotation) they are
  // Weights, 0 where hidden, or scores with -infinity where hidden. Keys in blocks of which nobody
  // sees anything are not handed out.
  bool probabilities = false;
  ScoreTiles tiles{};
  double* entropy = nullptr;  // [kBlockLanes] or null: filled with -sum(p ln p) over the keys; only
                              // with `probabilities`
};

std::int64_t score_block_scratch(const ScoreBlock& block) noexcept;

// Returns the queries whose weights are not finite numbers, as bits: what infinities and NaN make
// of those is for the plain path to say. Their weights come as 0, their sums are not filled.
std::uint64_t score_block(const ScoreBlock& block, float* scratch);

// to[column * to_stride + row] = from[row * from_stride + column]: tiles from rows and back.
void turn_tile(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns,
               float* to, std::int64_t to_stride) noexcept;

// mass[j] += sum over all lanes of tile[j][lane].
void add_tile(const float* tile, std::int64_t keys, double* mass) noexcept;

// The heaviest keys of each lane so far, heaviest first, ties by the lower key.
struct HeaviestKeys {
  std::int64_t top = 0;
  std::int64_t* keys = nullptr;  // [queries][top]: -1 where there are no more
  float* weights = nullptr;      // [queries][top]: 0 there
  // The least that a key must outweigh to be listed; 0 at first.
  alignas(64) float least[kBlockLanes] = {};

  // Keys of a lane come in ascending order.
  void add(std::int64_t lane, std::int64_t key, float weight) noexcept {
    if (!(weight > least[lane])) return;
    std::int64_t* to_keys = keys + lane * top;
    float* to_weights = weights + lane * top;
    std::int64_t place = top - 1;
    for (; place > 0 && to_weights[place - 1] < weight; --place) {
      to_weights[place] = to_weights[place - 1];
      to_keys[place] = to_keys[place - 1];
    }
    to_weights[place] = weight;
    to_keys[place] = key;
    least[lane] = to_weights[top - 1];
  }
};
void keep_heaviest(const float* tile, std::int64_t first_key, std::int64_t keys,
                   HeaviestKeys& heaviest) noexcept;

}  // namespace sextant::kernels
