// Probabilities and outputs of the decode kernel over a block of keys. Included again for each
// instruction set.
#if defined(SEXTANT_KERNELS_DECODE_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_DECODE_VALUES_INL_H_
#undef SEXTANT_KERNELS_DECODE_VALUES_INL_H_
#else
#define SEXTANT_KERNELS_DECODE_VALUES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/attention/long_sums-inl.h"
#include "kernels/decode/decode_rows-inl.h"
#include "kernels/decode/decode_scores-inl.h"
#include "kernels/decode/decode_scratch.h"
#include "kernels/decode/prefetched_rows.h"
#include "kernels/decode/value_tiles-inl.h"
#include "kernels/simd/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
    const bool rises = block_max > before + kRescaleThreshold;
    if (rises) s.running_max[row] = block_max;
    const auto m = hn::Set(d, s.running_max[row]);
    factors[row] = rises ? hn::GetLane(exp2(d, hn::Sub(hn::Set(d, before), m))) : 1.0F;
    for (std::int64_t key = 0; key < count; key += kSimdWidth) {
      hn::StoreU(exp2(d, hn::Sub(hn::LoadU(d, scores + key), m)), d, scores + key);
    }
  }
}

// Computes value_tiles() without values of probability 0, which may be infinite or NaN; otherwise
// the same bits.
template <class T>
HWY_NOINLINE void add_values_nan_safe(const ValueOperands<T>& o, std::int64_t keys, int rows,
                                      std::int64_t channels) {
  const TileTag d;
  for (int row = 0; row < rows; ++row) {
    const float* p = o.p + row * o.p_row;
    if (o.sum != nullptr) {
      float sum = 0;
      for (std::int64_t key = 0; key < keys; ++key) sum += p[key];
      o.sum[row] += sum;
    }
    for (std::int64_t c = 0; c < channels; c += kSimdWidth) {
      auto sum = hn::Zero(d);
      for (std::int64_t key = 0; key < keys; ++key) {
        if (p[key] == 0) continue;
        const T* v = o.v + key * o.v_row;
        const auto value = load_value(d, v + c, value_scale(v, o.v_channel));
        sum = hn::MulAdd(value, hn::Set(d, p[key]), sum);
      }
      float* at = o.o + row * o.o_row + c;
      hn::StoreU(hn::Add(hn::LoadU(d, at), sum), d, at);
    }
  }
}

// O of channels [begin, end) and, from channel 0, l, over one block of keys.
HWY_INLINE void add_values(const DecodeBlock& b, const SharedScratch& s,
                           const ThreadScratch& thread_scratch, bool nan_safe, std::int64_t block,
                           std::int64_t begin, std::int64_t end) {
  const BlockKeys keys = keys_of(b, block);
  const std::int64_t stride = padded_width(b.v_dim);
  end = std::min(padded_width(end), stride);
  const int rows = padded_rows(b.count);
  if (block * kKeyBlock % kSpan == 0) {
    if (begin == 0) end_span(s.sum, kSumsOfRows);
    end_span(s.o.from(begin), {rows, stride, end - begin});
  }
  const TileTag d;
  const float* factors = s.factors + (block - s.first_block) * rows;
  for (int row = 0; row < b.count; ++row) {
    if (factors[row] == 1) continue;
    for (float* sum : s.sum.parts()) {
      if (begin == 0) sum[row] *= factors[row];
    }
    const LongSum o = s.o.from(row * stride);
    for (std::int64_t c = begin; c < end; c += kSimdWidth) {
      scale_sum(o, 1, stride, c, hn::Set(d, factors[row]));
    }
  }
  if (is_hidden(b, keys)) return;  // zeros would be added
  alignas(64) float part_sum[kDecodeRows];
  const bool in_place = thread_scratch.v == nullptr;
  const auto over = [&](auto* v, std::int64_t v_row) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(v)>>;
    const T* data = v;
    const Ahead<T> ahead = in_place ? ahead_of(b.v, keys.from, b.end_key(), data) : Ahead<T>{};
    const std::ptrdiff_t jump =
        ahead.next == nullptr
            ? 0
            : static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(ahead.next) -
                                          reinterpret_cast<std::uintptr_t>(ahead.end));
    const std::int64_t row_bytes = std::max<std::int64_t>(1, b.v_dim * sizeof(T));
    const ValueOperands<T> o{
        .v = v + begin,
        .v_channel = begin,
        .v_row = v_row,
        .p = scores_of(s, keys.from),
        .p_row = s.scores_stride,
        .o = s.o.chain + begin,
        .o_row = stride,
        .sum = begin == 0 ? s.sum.chain : nullptr,
        .part = s.part + begin,
        .part_sum = part_sum,
        .v_far = std::max<std::int64_t>(kFarBytes / row_bytes, 8),
        .v_near = std::max<std::int64_t>(kNearBytes / row_bytes, 2),
        .v_left = in_place ? b.v.run_end(keys.from, b.end_key()) - keys.from : 0,
        .v_jump = jump};
    if (nan_safe) {
      add_values_nan_safe(o, keys.to - keys.from, b.count, end - begin);
    } else {
      value_tiles(rows, keys.to - keys.from, end - begin, o);
    }
  };
  const StoredRows stored = b.v.from(keys.from);
  if (!in_place) {
    copy_rows(stored, 0, keys.to - keys.from, b.v_dim, stride, thread_scratch.v);
    return over(static_cast<const float*>(thread_scratch.v), stride);
  }
  switch (b.v.storage) {
    case Storage::float32:
      return over(static_cast<const float*>(stored.data), b.v.row_stride);
    case Storage::float16:
      return over(static_cast<const float16*>(stored.data), b.v.row_stride);
    case Storage::bfloat16:
      return over(static_cast<const bfloat16*>(stored.data), b.v.row_stride);
    case Storage::int8:
      return over(static_cast<const std::int8_t*>(stored.data), b.v.row_stride);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
