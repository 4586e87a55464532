// The scratch of the decode kernel, divided into 64-byte aligned arrays.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/threads/scratch_divider.h"
#include "kernels/attention/geometry.h"
#include "kernels/attention/long_sums.h"
#include "kernels/decode/decode_block.h"

namespace sextant::kernels {

// Keys whose scores are computed at a time: few, so that they stay in the L1 cache for the next
// tile of rows.
inline constexpr std::int64_t kKeysAtOnce = 2 * kQueryGroup;

// Rows come in tiles of 8, the last one of 1, 2, 4 or 8; missing ones are zeros that are not read.
inline constexpr int kTileRows = 8;
constexpr int tile_count(int rows) { return (rows + kTileRows - 1) / kTileRows; }
constexpr int rows_of_tile(int rows, int tile) {
  const int left = rows - tile * kTileRows;
  return left > 4 ? kTileRows : left > 2 ? 4 : left;
}
constexpr int padded_rows(int rows) {
  return (tile_count(rows) - 1) * kTileRows + rows_of_tile(rows, tile_count(rows) - 1);
}

// The scratch of a block of rows, for `blocks` blocks of keys from `first_block` on.
struct SharedScratch {
  float* q;            // [tiles of rows][padded head_dim][rows of the tile], scaled and rotated
  LongSum o;           // [rows][padded v_dim]
  float* part;         // likewise: O of the keys of the present block
  float* running_max;  // [64], one for each row: the running maximum m
  LongSum sum;         // likewise: l
  // [blocks][rows]: the maximum of a block's scores, then the factor of O and l before it
  float* factors;
  float* line;    // [padded head_dim or v_dim]: a row on its way in or out
  float* scores;  // [rows][scores_stride]
  std::int64_t scores_stride;
  std::int64_t first_block;
  std::int64_t size;
};

// The scratch of each thread.
struct ThreadScratch {
  float* k;  // [128 or kKeysAtOnce][padded head_dim]: keys that tiles cannot read in place
  float* v;  // [128][padded v_dim] or null: likewise
  std::int64_t size;
};

inline SharedScratch divide_shared(const DecodeScratchShape& needs, std::int64_t first_block,
                                   std::int64_t blocks, float* memory, bool holds_data = false) {
  ScratchDivider<float> arrays(memory, holds_data);
  const std::int64_t rows = padded_rows(needs.rows);
  SharedScratch s{};
  s.q = arrays.take(rows * padded_width(needs.head_dim));
  const std::int64_t outputs = rows * padded_width(needs.v_dim);
  s.o.chain = arrays.take(outputs);
  s.o.spans = arrays.take_if(needs.spans, outputs);
  s.o.low = arrays.take_if(needs.spans, outputs);
  s.part = arrays.take(outputs);
  s.running_max = arrays.take(kQueryBlock);
  for (float** part : {&s.sum.chain, &s.sum.spans, &s.sum.low}) *part = arrays.take(kQueryBlock);
  s.factors = arrays.take(rows * blocks);
  s.line = arrays.take(std::max(padded_width(needs.head_dim), padded_width(needs.v_dim)));
  // Rows a whole number of pages apart would map to the same set of the L1 cache.
  s.scores_stride = blocks * kKeyBlock + kQueryGroup;
  s.scores = arrays.take(rows * s.scores_stride);
  s.first_block = first_block;
  s.size = arrays.size();
  return s;
}

inline ThreadScratch divide_thread_scratch(const DecodeScratchShape& needs, float* memory) {
  ScratchDivider<float> arrays(memory);
  ThreadScratch thread_scratch{};
  thread_scratch.k =
      arrays.take((needs.copies_k ? kKeyBlock : kKeysAtOnce) * padded_width(needs.head_dim));
  thread_scratch.v = arrays.take_if(needs.copies_v, kKeyBlock * padded_width(needs.v_dim));
  thread_scratch.size = arrays.size();
  return thread_scratch;
}

// The keys of a block that are visible to some row, extended to whole groups of 16.
struct BlockKeys {
  std::int64_t from, to;
  std::int64_t group_from() const { return from / kQueryGroup * kQueryGroup; }
  std::int64_t group_to() const { return (to + kQueryGroup - 1) / kQueryGroup * kQueryGroup; }
};

inline BlockKeys keys_of(const DecodeBlock& b, std::int64_t block) {
  return {std::max(b.first_key(), block * kKeyBlock),
          std::min(b.end_key(), (block + 1) * kKeyBlock)};
}

inline bool is_hidden(const DecodeBlock& b, const BlockKeys& keys) {
  return b.hides != nullptr && b.hides(b.context, keys.from, keys.to - keys.from);
}

inline float* scores_of(const SharedScratch& s, std::int64_t key) {
  return s.scores + (key - s.first_block * kKeyBlock);
}

}  // namespace sextant::kernels
