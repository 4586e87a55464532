// The decode kernel, keys in lanes. A key or value is read once for all rows, a row being one query
// of one head:
//
//   for each block of 128 keys:
//     S[row][key] = Q K^T        squares of keys and channels are transposed, so that keys
//                                are lanes, and used for all rows (decode_tiles-inl.h)
//     adjust S                   softcap, biases, hidden pairs
//     raise the maximum m        of the rows that need it
//     S = 2^(S - m)              in place
//     O[row][channel] += S V     channels are lanes; l += S on the way
//   out = O / l
//
// Every number goes through the operations of the forward kernel (attention/block.cc) in the same
// order, so the bits are the same. Here the order of keys and channels is kept by each lane.
#include "kernels/decode/decode_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/block.h"
#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/decode/decode_block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/decode/decode_tiles-inl.h"
#include "kernels/layers/log_sums-inl.h"
#include "kernels/simd/exp2-inl.h"
#include "kernels/simd/pack-inl.h"

#ifndef SEXTANT_KERNELS_DECODE_BLOCK_ONCE_
#define SEXTANT_KERNELS_DECODE_BLOCK_ONCE_
namespace sextant::kernels {
namespace {

constexpr std::int64_t padded(std::int64_t channels) {
  return (channels + kGroupLanes - 1) / kGroupLanes * kGroupLanes;
}

// Rows come in tiles of 8, the last one of 1, 2, 4 or 8; missing ones are zeros that are not read.
constexpr int kTileRows = 8;
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
  float* o;            // [rows][padded v_dim]
  float* running_max;  // [rows]: the running maximum m
  float* sum;          // [rows]: l
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
  float* k;  // [128][padded head_dim]: keys that tiles cannot read in place
  float* v;  // [128][padded v_dim] or null: likewise
  std::int64_t size;
};

class ScratchDivider {
 public:
  explicit ScratchDivider(float* memory) : memory_(memory) {}
  float* take(std::int64_t floats) {
    float* array = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (floats + 15) / 16 * 16;
    return array;
  }
  std::int64_t used() const { return used_; }

 private:
  float* memory_;
  std::int64_t used_ = 0;
};

SharedScratch divide_shared(const DecodeNeeds& needs, std::int64_t first_block, std::int64_t blocks,
                            float* memory) {
  ScratchDivider arrays(memory);
  const std::int64_t rows = padded_rows(needs.rows);
  SharedScratch s{};
  s.q = arrays.take(rows * padded(needs.head_dim));
  s.o = arrays.take(rows * padded(needs.v_dim));
  s.running_max = arrays.take(rows);
  s.sum = arrays.take(rows);
  s.factors = arrays.take(rows * blocks);
  s.line = arrays.take(std::max(padded(needs.head_dim), padded(needs.v_dim)));
  // Rows a whole number of pages apart would map to the same set of the L1 cache.
  s.scores_stride = blocks * kKeyBlock + kGroupLanes;
  s.scores = arrays.take(rows * s.scores_stride);
  s.first_block = first_block;
  s.size = arrays.used();
  return s;
}

ThreadScratch divide_thread_scratch(const DecodeNeeds& needs, float* memory) {
  ScratchDivider arrays(memory);
  ThreadScratch thread_scratch{};
  thread_scratch.k =
      arrays.take((needs.copies_k ? kKeyBlock : kGroupLanes) * padded(needs.head_dim));
  thread_scratch.v = needs.copies_v ? arrays.take(kKeyBlock * padded(needs.v_dim)) : nullptr;
  thread_scratch.size = arrays.used();
  return thread_scratch;
}

}  // namespace
}  // namespace sextant::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// Rows as tiles read them, the first one's channels at `data`.
template <class T>
struct Rows {
  const T* data;
  std::int64_t stride;
};

// Rows [first, first + count) copied as float32, padded with zeros to `stride` channels.
HWY_INLINE void copy_rows(const StoredRows& from, std::int64_t first, std::int64_t count,
                          std::int64_t channels, std::int64_t stride, float* to) {
  for (std::int64_t r = 0; r < count; ++r, to += stride) {
    load_rows(from, first + r, 1, channels, to);
    std::fill(to + channels, to + stride, 0.0F);
  }
}

// Scores of all rows with `keys` keys, a multiple of 16.
template <class T>
HWY_INLINE void score_groups(const DecodeBlock& b, const SharedScratch& s, Rows<T> k,
                             std::int64_t keys, float* scores, const T* k_end) {
  const std::int64_t channels = padded(b.head_dim);
  const float* q = s.q;
  for (int tile = 0; tile < tile_count(b.count); ++tile) {
    const int rows = rows_of_tile(b.count, tile);
    score_tiles<T>(rows, keys, {k.data, k.stride, q, channels, scores, s.scores_stride, k_end});
    k_end = nullptr;
    q += rows * channels;
    scores += rows * s.scores_stride;
  }
}

// Scores of the whole groups of 16 keys that hold `keys` keys, which may be the last ones in
// memory: an incomplete group is copied and padded with zeros.
template <class T>
void score_keys(const DecodeBlock& b, const SharedScratch& s, float* copy, Rows<T> k,
                std::int64_t keys, float* scores, const T* k_end) {
  // Few at a time, so that they are in the L1 cache for the next tile of rows.
  constexpr std::int64_t kAtOnce = 2 * kGroupLanes;
  while (keys >= kGroupLanes) {
    const std::int64_t these = keys >= kAtOnce ? kAtOnce : kGroupLanes;
    score_groups(b, s, k, these, scores, k_end);
    keys -= these;
    k.data += these * k.stride;
    scores += these;
  }
  if (keys == 0) return;
  const std::int64_t channels = padded(b.head_dim);
  std::fill_n(copy, kGroupLanes * channels, 0.0F);
  copy_rows({k.data, k.stride, 1, storage_of<T>}, 0, keys, b.head_dim, channels, copy);
  score_groups<float>(b, s, {copy, channels}, kGroupLanes, scores, nullptr);
}

// The keys of a block that are visible to some row, extended to whole groups of 16.
struct BlockKeys {
  std::int64_t from, to;
  std::int64_t group_from() const { return from / kGroupLanes * kGroupLanes; }
  std::int64_t group_to() const { return (to + kGroupLanes - 1) / kGroupLanes * kGroupLanes; }
};

BlockKeys keys_of(const DecodeBlock& b, std::int64_t block) {
  return {std::max(b.first_key(), block * kKeyBlock),
          std::min(b.last_key(), (block + 1) * kKeyBlock)};
}

HWY_INLINE float* scores_of(const SharedScratch& s, std::int64_t key) {
  return s.scores + (key - s.first_block * kKeyBlock);
}

// Products of queries and keys of one block.
HWY_INLINE void multiply(const DecodeBlock& b, const SharedScratch& s,
                         const ThreadScratch& thread_scratch, std::int64_t block) {
  const BlockKeys keys = keys_of(b, block);
  const std::int64_t from = keys.group_from();
  float* scores = scores_of(s, from);
  if (needs_of(b).copies_k) {
    const std::int64_t channels = padded(b.head_dim), count = keys.to - from;
    copy_rows(b.k, from, count, b.head_dim, channels, thread_scratch.k);
    if (b.k_rotation.cos != nullptr) {
      rotate_rows(thread_scratch.k, channels, count, b.k_rotation.from(from));
    }
    std::fill_n(thread_scratch.k + count * channels, (keys.group_to() - keys.to) * channels, 0.0F);
    return score_groups<float>(b, s, {thread_scratch.k, channels}, keys.group_to() - from, scores,
                               nullptr);
  }
  const auto direct = [&](auto* data) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    const T* end = b.k.row_stride > 0 ? data + b.last_key() * b.k.row_stride : nullptr;
    score_keys<T>(b, s, thread_scratch.k, {data + from * b.k.row_stride, b.k.row_stride},
                  keys.to - from, scores, end);
  };
  switch (b.k.storage) {
    case Storage::float32:
      return direct(static_cast<const float*>(b.k.data));
    case Storage::float16:
      return direct(static_cast<const float16*>(b.k.data));
    case Storage::bfloat16:
      return direct(static_cast<const bfloat16*>(b.k.data));
  }
}

// Softcap, biases and masking of one row's scores with the keys of a block; returns their maximum.
// A bias of -infinity is added, unless `nan_safe`: NaN and infinity + -infinity would not be
// hidden.
HWY_INLINE float adjust(const DecodeBlock& b, int row, const BlockKeys& keys, bool nan_safe,
                        float* scores) {
  const TileTag d;
  const hn::RebindToSigned<TileTag> di;
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const auto hidden = hn::Set(d, kHidden);
  const std::int64_t begin = keys.group_from(), end = keys.group_to();
  const std::int32_t first = b.rows[row].first, last = b.rows[row].last;
  alignas(64) float bias[kKeyBlock];
  const std::int64_t from = std::max<std::int64_t>(keys.from, first);
  const std::int64_t to = std::min<std::int64_t>(keys.to, last);
  const bool biased = b.fill != nullptr && from < to;
  if (biased) {
    std::fill_n(bias, from - begin, 0.0F);
    b.fill(b.context, row, from, to - from, bias + (from - begin));
    std::fill_n(bias + (to - begin), end - to, 0.0F);
  }
  const bool edge = begin < first || end > last;
  const bool capped = b.softcap > 0;
  const auto cap = hn::Set(d, b.softcap),
             rate = hn::Set(d, capped ? 2 * static_cast<float>(kLog2E) / b.softcap : 0);
  const auto first_v = hn::Set(di, first), last_v = hn::Set(di, last);
  auto m = hidden;
  for (std::int64_t key = begin; key < end; key += kTileLanes) {
    float* at = scores + (key - begin);
    auto s = hn::LoadU(d, at);
    if (capped) s = softcap(d, s, cap, rate);
    if (biased) {
      const auto added = hn::LoadU(d, bias + (key - begin));
      s = hn::Add(s, added);
      if (nan_safe) s = hn::IfThenElse(hn::Eq(added, hidden), hidden, s);
    }
    if (edge) {
      const auto j = hn::Iota(di, static_cast<std::int32_t>(key));
      const auto outside = hn::Or(hn::Lt(j, first_v), hn::Not(hn::Lt(j, last_v)));
      s = hn::IfThenElse(hn::RebindMask(d, outside), hidden, s);
    }
    m = hn::Max(m, s);
    hn::StoreU(s, d, at);
  }
  return hn::GetLane(hn::MaxOfLanes(d, m));
}

// S of one block of keys, and its maxima.
HWY_INLINE void score(const DecodeBlock& b, const SharedScratch& s,
                      const ThreadScratch& thread_scratch, bool nan_safe, std::int64_t block) {
  multiply(b, s, thread_scratch, block);
  const BlockKeys keys = keys_of(b, block);
  float* block_max = s.factors + (block - s.first_block) * padded_rows(b.count);
  for (int row = 0; row < b.count; ++row) {
    float* scores = scores_of(s, keys.group_from()) + row * s.scores_stride;
    block_max[row] = adjust(b, row, keys, nan_safe, scores);
  }
}

// Updates the running maximum, then converts the scores of one block to probabilities relative to
// it, in place.
HWY_INLINE void softmax(const DecodeBlock& b, const SharedScratch& s, std::int64_t block) {
  const TileTag d;
  const BlockKeys keys = keys_of(b, block);
  const std::int64_t count = keys.group_to() - keys.group_from();
  float* factors = s.factors + (block - s.first_block) * padded_rows(b.count);
  for (int row = 0; row < b.count; ++row) {
    float* scores = scores_of(s, keys.group_from()) + row * s.scores_stride;
    const float block_max = factors[row], before = s.running_max[row];
    const bool rises = block_max > before + kMaximumSlack;
    if (rises) s.running_max[row] = block_max;
    const auto m = hn::Set(d, s.running_max[row]);
    factors[row] = rises ? hn::GetLane(exp2(d, hn::Sub(hn::Set(d, before), m))) : 1.0F;
    for (std::int64_t key = 0; key < count; key += kTileLanes) {
      hn::StoreU(exp2(d, hn::Sub(hn::LoadU(d, scores + key), m)), d, scores + key);
    }
  }
}

// O += P V without values of probability 0, which may be infinite or NaN; otherwise the same bits.
template <class T>
HWY_NOINLINE void add_values_nan_safe(const ValueOperands<T>& o, std::int64_t keys, int rows,
                                      std::int64_t channels) {
  const TileTag d;
  for (int row = 0; row < rows; ++row) {
    for (std::int64_t key = 0; key < keys; ++key) {
      const float probability = o.p[row * o.p_row + key];
      if (o.sum != nullptr) o.sum[row] += probability;
      if (probability == 0) continue;
      const auto p = hn::Set(d, probability);
      for (std::int64_t c = 0; c < channels; c += kTileLanes) {
        float* at = o.o + row * o.o_row + c;
        hn::StoreU(hn::MulAdd(load_floats(d, o.v + key * o.v_row + c), p, hn::LoadU(d, at)), d, at);
      }
    }
  }
}

// O of channels [begin, end) and, from channel 0, l, over one block of keys.
HWY_INLINE void add_values(const DecodeBlock& b, const SharedScratch& s,
                           const ThreadScratch& thread_scratch, bool nan_safe, std::int64_t block,
                           std::int64_t begin, std::int64_t end) {
  const BlockKeys keys = keys_of(b, block);
  const std::int64_t stride = padded(b.v_dim);
  end = std::min(padded(end), stride);
  const int rows = padded_rows(b.count);
  const float* factors = s.factors + (block - s.first_block) * rows;
  for (int row = 0; row < b.count; ++row) {
    if (factors[row] == 1) continue;
    if (begin == 0) s.sum[row] *= factors[row];
    for (std::int64_t c = begin; c < end; ++c) s.o[row * stride + c] *= factors[row];
  }
  const auto over = [&](auto* v, std::int64_t v_row) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(v)>>;
    const std::int64_t row_bytes = std::max<std::int64_t>(1, b.v_dim * sizeof(T));
    const ValueOperands<T> o{.v = v + begin,
                             .v_row = v_row,
                             .p = scores_of(s, keys.from),
                             .p_row = s.scores_stride,
                             .o = s.o + begin,
                             .o_row = stride,
                             .sum = begin == 0 ? s.sum : nullptr,
                             .v_ahead = std::max<std::int64_t>(kDecodePrefetchBytes / row_bytes, 8),
                             .v_left = thread_scratch.v == nullptr ? b.last_key() - keys.from : 0};
    if (nan_safe) {
      add_values_nan_safe(o, keys.to - keys.from, b.count, end - begin);
    } else {
      value_tiles(rows, keys.to - keys.from, end - begin, o);
    }
  };
  if (thread_scratch.v != nullptr) {
    copy_rows(b.v, keys.from, keys.to - keys.from, b.v_dim, stride, thread_scratch.v);
    return over(static_cast<const float*>(thread_scratch.v), stride);
  }
  const std::int64_t offset = keys.from * b.v.row_stride;
  switch (b.v.storage) {
    case Storage::float32:
      return over(static_cast<const float*>(b.v.data) + offset, b.v.row_stride);
    case Storage::float16:
      return over(static_cast<const float16*>(b.v.data) + offset, b.v.row_stride);
    case Storage::bfloat16:
      return over(static_cast<const bfloat16*>(b.v.data) + offset, b.v.row_stride);
  }
}

// Queries scaled and rotated; the initial maxima and sums.
HWY_INLINE void start(const DecodeBlock& b, const SharedScratch& s) {
  const std::int64_t channels = padded(b.head_dim);
  const int rows = padded_rows(b.count);
  std::fill_n(s.q, rows * channels, 0.0F);
  std::fill_n(s.o, rows * padded(b.v_dim), 0.0F);
  std::fill_n(s.sum, rows, 0.0F);
  for (int row = 0; row < b.count; ++row) {
    const DecodeRow& r = b.rows[row];
    const bool has_sink = r.sink > -std::numeric_limits<float>::infinity();
    s.running_max[row] = has_sink ? r.sink : std::numeric_limits<float>::lowest();
    s.sum[row] = has_sink ? 1.0F : 0.0F;
    load_rows({r.q, 0, b.q_stride, b.k.storage}, 0, 1, b.head_dim, s.line);
    if (r.rotation.cos != nullptr) rotate_rows(s.line, b.head_dim, 1, r.rotation);
    const int tile = row / kTileRows, width = rows_of_tile(b.count, tile);
    float* to = s.q + tile * kTileRows * channels + row % kTileRows;
    for (std::int64_t c = 0; c < b.head_dim; ++c) to[c * width] = s.line[c] * b.scale;
  }
}

// O / l in place; whether all of it is finite.
HWY_INLINE bool normalize(const DecodeBlock& b, const SharedScratch& s, int row) {
  const TileTag d;
  const auto zero = hn::Zero(d);
  const float sum = s.sum[row];
  const auto inverse = hn::Set(d, sum == 0 ? 0.0F : 1.0F / sum);
  auto trace = hn::Mul(zero, hn::Set(d, sum + s.running_max[row]));  // 0 or NaN
  float* o = s.o + row * padded(b.v_dim);
  for (std::int64_t c = 0; c < padded(b.v_dim); c += kTileLanes) {
    const auto value = hn::MulAdd(hn::LoadU(d, o + c), inverse, zero);  // no -0
    trace = hn::MulAdd(value, zero, trace);
    hn::StoreU(value, d, o + c);
  }
  return hn::AllTrue(d, hn::Eq(trace, zero));
}

// Writes the `wanted` rows; returns those that are not finite, which are written only if
// `nan_safe`.
HWY_INLINE std::uint32_t finish(const DecodeBlock& b, const SharedScratch& s, bool nan_safe,
                                std::uint32_t wanted) {
  std::uint32_t nonfinite = 0;
  alignas(64) float running_max[kBlockLanes] = {}, sum[kBlockLanes] = {}, logs[kBlockLanes];
  std::copy_n(s.running_max, b.count, running_max);
  std::copy_n(s.sum, b.count, sum);
  if (b.rows[0].log_sum_exp != nullptr)
    log_sums(running_max, sum, b.count, logs);  // of all rows or none
  for (int row = 0; row < b.count; ++row) {
    if ((wanted >> row & 1) == 0) continue;
    if (!normalize(b, s, row)) {
      nonfinite |= std::uint32_t{1} << row;
      if (!nan_safe) continue;
    }
    const DecodeRow& r = b.rows[row];
    const float* from = s.o + row * padded(b.v_dim);
    switch (b.k.storage) {
      case Storage::float32:
        store_row(from, b.v_dim, static_cast<float*>(r.out), b.out_stride);
        break;
      case Storage::float16:
        store_row(from, b.v_dim, static_cast<float16*>(r.out), b.out_stride);
        break;
      case Storage::bfloat16:
        store_row(from, b.v_dim, static_cast<bfloat16*>(r.out), b.out_stride);
        break;
    }
    if (r.log_sum_exp != nullptr) *r.log_sum_exp = logs[row];
  }
  return nonfinite;
}

SharedScratch all_blocks(const DecodeBlock& b, float* memory) {
  return divide_shared(needs_of(b), b.first_block(), b.last_block() - b.first_block(), memory);
}

// The whole computation on one thread, with scratch for the scores of one block.
std::uint32_t decode_block(const DecodeBlock& b, bool nan_safe, std::uint32_t wanted,
                           float* memory) {
  SharedScratch s = divide_shared(needs_of(b), 0, 1, memory);
  const ThreadScratch thread_scratch = divide_thread_scratch(needs_of(b), memory + s.size);
  start(b, s);
  for (std::int64_t block = b.first_block(); block < b.last_block(); ++block) {
    s.first_block = block;
    score(b, s, thread_scratch, nan_safe, block);
    softmax(b, s, block);
    add_values(b, s, thread_scratch, nan_safe, block, 0, b.v_dim);
  }
  return finish(b, s, nan_safe, wanted);
}

void decode_begin(const DecodeBlock& b, float* shared) { start(b, all_blocks(b, shared)); }

void decode_scores(const DecodeBlock& b, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) {
  const SharedScratch s = all_blocks(b, shared);
  const ThreadScratch scratch = divide_thread_scratch(needs_of(b), thread_scratch);
  for (std::int64_t block = begin; block < end; ++block) score(b, s, scratch, false, block);
}

void decode_softmax(const DecodeBlock& b, float* shared) {
  const SharedScratch s = all_blocks(b, shared);
  for (std::int64_t block = b.first_block(); block < b.last_block(); ++block) {
    softmax(b, s, block);
  }
}

void decode_values(const DecodeBlock& b, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) {
  const SharedScratch s = all_blocks(b, shared);
  const ThreadScratch scratch = divide_thread_scratch(needs_of(b), thread_scratch);
  for (std::int64_t block = b.first_block(); block < b.last_block(); ++block) {
    add_values(b, s, scratch, false, block, begin, end);
  }
}

std::uint32_t decode_finish(const DecodeBlock& b, float* shared) {
  return finish(b, all_blocks(b, shared), false, ~std::uint32_t{0});
}

TileShape decode_tile() { return {4, max_squares(4) * kTileLanes}; }

void biases_to_log2(float* biases, std::int64_t count) {
  const auto run = [&](auto d, std::int64_t i) HWY_ATTR {
    const auto none = hn::Set(d, -std::numeric_limits<float>::infinity());
    const auto lowest = hn::Set(d, std::numeric_limits<float>::lowest());
    const auto x = hn::LoadU(d, biases + i);
    const auto y = hn::Max(lowest, hn::Mul(x, hn::Set(d, static_cast<float>(kLog2E))));
    hn::StoreU(hn::IfThenElse(hn::Eq(x, none), none, y), d, biases + i);
  };
  std::int64_t i = 0;
  for (; i + kTileLanes <= count; i += kTileLanes) run(TileTag(), i);
  for (; i < count; ++i) run(hn::CappedTag<float, 1>(), i);
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(decode_block);
HWY_EXPORT(decode_begin);
HWY_EXPORT(decode_scores);
HWY_EXPORT(decode_softmax);
HWY_EXPORT(decode_values);
HWY_EXPORT(decode_finish);
HWY_EXPORT(biases_to_log2);
HWY_EXPORT(decode_tile);

std::int64_t DecodeBlock::first_key() const noexcept {
  std::int64_t first = std::numeric_limits<std::int32_t>::max();
  for (int row = 0; row < count; ++row) {
    if (rows[row].first < rows[row].last) first = std::min<std::int64_t>(first, rows[row].first);
  }
  return std::min(first, last_key());
}

std::int64_t DecodeBlock::last_key() const noexcept {
  std::int64_t last = 0;
  for (int row = 0; row < count; ++row) {
    if (rows[row].first < rows[row].last) last = std::max<std::int64_t>(last, rows[row].last);
  }
  return last;
}

void biases_to_log2(float* biases, std::int64_t count) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(biases_to_log2)(biases, count);
}

DecodeNeeds decode_needs(int rows, const StoredRows& k, std::int64_t head_dim, const StoredRows& v,
                         std::int64_t v_dim, bool rotates) noexcept {
  // Tiles need contiguous channels, a multiple of 16.
  return {rows, head_dim, v_dim, rotates || k.channel_stride != 1 || head_dim % kGroupLanes != 0,
          v.channel_stride != 1 || v_dim % kGroupLanes != 0};
}

DecodeNeeds needs_of(const DecodeBlock& b) noexcept {
  return decode_needs(b.count, b.k, b.head_dim, b.v, b.v_dim, b.k_rotation.cos != nullptr);
}

std::int64_t decode_block_scratch(const DecodeNeeds& needs) noexcept {
  return divide_shared(needs, 0, 1, nullptr).size + decode_thread_scratch(needs);
}

std::int64_t decode_shared_scratch(const DecodeNeeds& needs, std::int64_t key_blocks) noexcept {
  return divide_shared(needs, 0, key_blocks, nullptr).size;
}

std::int64_t decode_thread_scratch(const DecodeNeeds& needs) noexcept {
  return divide_thread_scratch(needs, nullptr).size;
}

TileShape decode_tile() noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(decode_tile)();
}

std::uint32_t decode_block(const DecodeBlock& block, float* scratch) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  const std::uint32_t rows =
      HWY_DYNAMIC_DISPATCH(decode_block)(block, false, ~std::uint32_t{0}, scratch);
  return rows == 0 ? 0 : decode_nan_safe(block, rows, scratch);
}

std::uint32_t decode_nan_safe(const DecodeBlock& block, std::uint32_t rows,
                              float* scratch) noexcept {
  const DenormalsOff denormals_off;
  return HWY_DYNAMIC_DISPATCH(decode_block)(block, true, rows, scratch);
}

void decode_begin(const DecodeBlock& block, float* shared) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_begin)(block, shared);
}

void decode_scores(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) noexcept {
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_scores)(block, begin, end, shared, thread_scratch);
}

void decode_softmax(const DecodeBlock& block, float* shared) noexcept {
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_softmax)(block, shared);
}

void decode_values(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) noexcept {
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_values)(block, begin, end, shared, thread_scratch);
}

std::uint32_t decode_finish(const DecodeBlock& block, float* shared) noexcept {
  const DenormalsOff denormals_off;
  return HWY_DYNAMIC_DISPATCH(decode_finish)(block, shared);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
