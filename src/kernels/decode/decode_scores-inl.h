// Scores of the decode kernel: products of all rows with a block of keys, softcap, biases, hidden
// pairs, and the maximum of each row. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_DECODE_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_DECODE_SCORES_INL_H_
#undef SEXTANT_KERNELS_DECODE_SCORES_INL_H_
#else
#define SEXTANT_KERNELS_DECODE_SCORES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/decode/decode_scratch.h"
#include "kernels/decode/prefetched_rows.h"
#include "kernels/decode/score_tiles-inl.h"
#include "kernels/simd/exp2-inl.h"
#include "kernels/simd/score_step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows [first, first + count) copied as float32, padded with zeros to `stride` channels.
HWY_INLINE void copy_rows(const StoredRows& from, std::int64_t first, std::int64_t count,
                          std::int64_t channels, std::int64_t stride, float* to) {
  for (std::int64_t r = 0; r < count; ++r, to += stride) {
    load_rows(from, first + r, 1, channels, to);
    std::fill(to + channels, to + stride, 0.0F);
  }
}

// Scores of all rows with `keys` keys, a multiple of 16, that lie one behind the other.
template <class T>
HWY_INLINE void score_groups(const DecodeBlock& b, const SharedScratch& s, const T* k,
                             std::int64_t keys, float* scores, PlaceAhead far = {},
                             PlaceAhead near = {}) {
  const std::int64_t channels = padded_width(b.head_dim);
  const float* q = s.q;
  for (int tile = 0; tile < tile_count(b.count); ++tile) {
    const int rows = rows_of_tile(b.count, tile);
    score_tiles<T>(rows, keys, {k, q, channels, scores, s.scores_stride, far, near});
    far = near = {};
    q += rows * channels;
    scores += rows * s.scores_stride;
  }
}

// Copies keys as they are stored, one behind the other.
template <class T>
HWY_INLINE void gather_keys(const T* k, std::int64_t stride, std::int64_t keys,
                            std::int64_t channels, T* to) {
  // Vectors of at most 32 bytes, of which a row is a multiple.
  constexpr int kFloats = std::min(kSimdWidth, 8);
  constexpr std::int64_t kStep = kFloats * sizeof(float) / sizeof(T);
  const hn::FixedTag<float, kFloats> d;
  for (std::int64_t key = 0; key < keys; ++key, k += stride, to += dense_stride<T>(channels)) {
    if constexpr (std::is_same_v<T, std::int8_t>) {
      std::memcpy(to - kScaleBytes, k - kScaleBytes, kScaleBytes);
    }
    for (std::int64_t c = 0; c < channels; c += kStep) {
      hn::StoreU(hn::LoadU(d, reinterpret_cast<const float*>(k + c)), d,
                 reinterpret_cast<float*>(to + c));
    }
  }
}

// Scores of the whole groups of 16 keys that hold `keys` keys, which may be the last ones in
// memory. Keys that do not lie one behind the other, or are no whole group, are copied; what lies
// behind the latter gives scores that finish_row() hides.
template <class T>
void score_keys(const DecodeBlock& b, const SharedScratch& s, float* memory, const T* k,
                std::int64_t stride, const Ahead<T>& ahead, std::int64_t keys, float* scores) {
  const std::int64_t channels = b.head_dim, dense = dense_stride<T>(channels);
  const auto row_bytes = static_cast<std::ptrdiff_t>(dense * sizeof(T));
  T* copy = reinterpret_cast<T*>(memory) + dense_stride<T>(0);
  for (std::int64_t these = kKeysAtOnce; keys > 0; keys -= these, k += these * stride) {
    these = keys >= kKeysAtOnce ? kKeysAtOnce : std::min<std::int64_t>(keys, kQueryGroup);
    const PlaceAhead far(ahead, k, stride, row_bytes, kFarBytes);
    if (stride == dense && these >= kQueryGroup) {
      score_groups<T>(b, s, k, these, scores, far,
                      PlaceAhead(ahead, k, stride, row_bytes, kNearBytes));
    } else {
      gather_keys(k, stride, these, channels, copy);
      score_groups<T>(b, s, copy, std::max<std::int64_t>(these, kQueryGroup), scores, far);
    }
    scores += these;
  }
}

// Products of queries and keys of one block.
HWY_INLINE void multiply(const DecodeBlock& b, const SharedScratch& s,
                         const ThreadScratch& thread_scratch, std::int64_t block) {
  const BlockKeys keys = keys_of(b, block);
  const std::int64_t from = keys.group_from();
  float* scores = scores_of(s, from);
  const StoredRows stored = b.k.from(from);
  if (scratch_shape_of(b).copies_k) {
    const std::int64_t channels = padded_width(b.head_dim), count = keys.to - from;
    copy_rows(stored, 0, count, b.head_dim, channels, thread_scratch.k);
    if (b.k_rotation.cos != nullptr) {
      rotate_rows(thread_scratch.k, channels, count, b.k_rotation.from(from));
    }
    std::fill_n(thread_scratch.k + count * channels, (keys.group_to() - keys.to) * channels, 0.0F);
    return score_groups<float>(b, s, thread_scratch.k, keys.group_to() - from, scores);
  }
  const auto direct = [&](auto* data) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    const Ahead<T> ahead = b.k.row_stride > 0 ? ahead_of(b.k, from, b.end_key(), data) : Ahead<T>{};
    score_keys<T>(b, s, thread_scratch.k, data, b.k.row_stride, ahead, keys.to - from, scores);
  };
  switch (b.k.storage) {
    case Storage::float32:
      return direct(static_cast<const float*>(stored.data));
    case Storage::float16:
      return direct(static_cast<const float16*>(stored.data));
    case Storage::bfloat16:
      return direct(static_cast<const bfloat16*>(stored.data));
    case Storage::int8:
      return direct(static_cast<const std::int8_t*>(stored.data));
  }
}

// Softcap, biases and masking of one row's scores with the keys of a block; returns their maximum.
HWY_INLINE float finish_row(const DecodeBlock& b, int row, const BlockKeys& keys, bool nan_safe,
                            float* scores) {
  const TileTag d;
  const hn::RebindToSigned<TileTag> di;
  const std::int64_t begin = keys.group_from(), end = keys.group_to();
  const std::int32_t first = b.rows[row].key_begin, last = b.rows[row].key_end;
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
  const bool has_steps = b.numbers.has_steps();
  const ScoreStep step(b.numbers);
  const auto first_v = hn::Set(di, first), last_v = hn::Set(di, last);
  auto m = step.hidden();
  for (std::int64_t key = begin; key < end; key += kSimdWidth) {
    float* at = scores + (key - begin);
    auto s = hn::LoadU(d, at);
    if (has_steps) s = step.score(s);
    if (biased) s = step.biased(s, hn::LoadU(d, bias + (key - begin)), nan_safe);
    if (edge) s = step.seen(s, hn::Iota(di, static_cast<std::int32_t>(key)), first_v, last_v);
    m = hn::Max(m, s);
    hn::StoreU(s, d, at);
  }
  return hn::GetLane(hn::MaxOfLanes(d, m));
}

// S of one block of keys, and its maxima.
HWY_INLINE void score(const DecodeBlock& b, const SharedScratch& s,
                      const ThreadScratch& thread_scratch, bool nan_safe, std::int64_t block) {
  const BlockKeys keys = keys_of(b, block);
  const bool hidden = is_hidden(b, keys);
  if (!hidden) multiply(b, s, thread_scratch, block);
  float* block_max = s.factors + (block - s.first_block) * padded_rows(b.count);
  for (int row = 0; row < b.count; ++row) {
    float* scores = scores_of(s, keys.group_from()) + row * s.scores_stride;
    if (hidden) {
      block_max[row] = -std::numeric_limits<float>::infinity();
      std::fill_n(scores, keys.group_to() - keys.group_from(), block_max[row]);
      continue;
    }
    block_max[row] = finish_row(b, row, keys, nan_safe, scores);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
