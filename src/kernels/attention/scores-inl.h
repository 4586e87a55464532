// Scores of 64 queries in lanes, up to the softmax: shared by the kernels of outputs and of
// weights, so that both have the same bits. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_SCORES_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_SCORES_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_SCORES_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/attention/long_sums-inl.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/layers/log_sums-inl.h"
#include "kernels/simd/exp2-inl.h"
#include "kernels/simd/pack-inl.h"
#include "kernels/simd/score_step-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Keys [first, first + count) as rows of float32, rotated if there is a rotation: in place when
// `room` is null, else copied to it.
HWY_INLINE const float* load_keys(const AttentionBlock& b, std::int64_t first, std::int64_t count,
                                  float* room) {
  const StoredRows stored = b.k.from(first);
  if (room == nullptr) {
    const auto* rows = static_cast<const float*>(stored.data);
    prefetch_rows(rows, stored.row_stride, count, b.head_dim);
    return rows;
  }
  load_rows(stored, 0, count, b.head_dim, room);
  if (b.k_rotation.cos != nullptr) {
    rotate_rows(room, b.head_dim, count, b.k_rotation.from(first));
  }
  return room;
}

// The state of 64 lanes.
struct Lanes {
  float *q, *running_max;
  LongSum o, sum;  // [output_sums()][64], [64]; o has no parts where only scores count
  const std::int32_t *key_begin, *key_end;  // [64]
  GroupRanges ranges;
  std::int64_t first_query, queries;
  std::int64_t span = 0;  // of the last block that was added
  bool started = false;   // O is no longer 0

  SumRows sum_rows() const { return {1, kQueryBlock, ranges.count * kQueryGroup}; }
  SumRows o_rows(const AttentionBlock& b) const {
    return {b.output_sums(), kQueryBlock, ranges.count * kQueryGroup};
  }
};

// Before the block of keys from `begin` on.
HWY_INLINE void begin_block(const AttentionBlock& b, Lanes& lanes, std::int64_t begin) {
  if (!enters_span(begin, lanes.span)) return;
  end_span(lanes.sum, lanes.sum_rows());
  end_span(lanes.o, lanes.o_rows(b));
}

// Steps, bias and masking of a rectangle that needs any of them; then its maxima.
template <bool kSteps, bool kBias, bool kMask>
HWY_NOINLINE void finish_scores(const AttentionBlock& b, const VisibleRect& rect,
                                const Lanes& lanes, bool nan_safe, float* scores, const float* bias,
                                std::ptrdiff_t bias_row, float* max) {
  const TileTag d;
  const hn::RebindToSigned<TileTag> di;
  const ScoreStep step(b.numbers);
  const std::int64_t begin = rect.first_group * kQueryGroup;
  const std::int64_t end = begin + rect.groups * kQueryGroup;
  for (std::int64_t lane = begin; lane < end; lane += kSimdWidth) {
    const auto first = hn::LoadU(di, lanes.key_begin + lane),
               last = hn::LoadU(di, lanes.key_end + lane);
    auto m = hn::LoadU(d, max + lane);
    for (std::int64_t key = rect.first_key; key < rect.end_key; ++key) {
      const std::int64_t row = key - rect.first_key;
      float* at = scores + row * kQueryBlock + lane;
      auto s = hn::LoadU(d, at);
      if constexpr (kSteps) s = step.score(s);
      if constexpr (kBias) s = step.biased(s, hn::LoadU(d, bias + row * bias_row + lane), nan_safe);
      if constexpr (kMask)
        s = step.seen(s, hn::Set(di, static_cast<std::int32_t>(key)), first, last);
      m = hn::Max(m, s);
      if constexpr (kSteps || kBias || kMask) hn::StoreU(s, d, at);
    }
    hn::StoreU(m, d, max + lane);
  }
}

// The scores of a rectangle into `scores`, whose first row is the rectangle's first key, and the
// maxima. Rounded products are there already.
HWY_INLINE void score(const AttentionBlock& b, const VisibleRect& rect, const Lanes& lanes,
                      bool nan_safe, const float* k, std::int64_t k_stride, float* scores,
                      const float* bias, std::ptrdiff_t bias_row, float* max) {
  const std::int64_t lane = rect.first_group * kQueryGroup;
  const std::int64_t keys = rect.end_key - rect.first_key;
  const TileOperands o{.a = k,
                       .a_row = k_stride,
                       .a_step = 1,
                       .b = lanes.q + lane,
                       .b_step = kQueryBlock,
                       .c = scores + lane,
                       .c_row = kQueryBlock,
                       .steps = b.head_dim,
                       .bias = bias != nullptr ? bias + lane : nullptr,
                       .bias_row = bias_row,
                       .max = max + lane};
  if (b.rounded == nullptr) {
    if (!b.numbers.has_steps() && !rect.needs_mask && !(nan_safe && bias != nullptr)) {
      if (bias != nullptr) return product<TileMode::biased>(keys, rect.groups, o);
      return product<TileMode::scores>(keys, rect.groups, o);
    }
    product<TileMode::store>(keys, rect.groups, o);
  }
  dispatch_score_steps(
      b.numbers, bias != nullptr, rect.needs_mask, [&](auto steps, auto biased, auto edge) {
        finish_scores<decltype(steps)::value, decltype(biased)::value, decltype(edge)::value>(
            b, rect, lanes, nan_safe, scores, bias, bias_row, max);
      });
}

// Updates the running maximum of the lanes whose block maximum exceeds it by too much, and rescales
// their sums and outputs.
HWY_INLINE void rescale(const AttentionBlock& b, const Lanes& lanes, const float* max) {
  const TileTag d;
  const auto slack = hn::Set(d, kRescaleThreshold);
  const std::int64_t end = lanes.ranges.count * kQueryGroup;
  for (std::int64_t lane = 0; lane < end; lane += kSimdWidth) {
    const auto m = hn::LoadU(d, lanes.running_max + lane), block = hn::LoadU(d, max + lane);
    const auto rises = hn::Gt(block, hn::Add(m, slack));
    if (hn::AllFalse(d, rises)) continue;
    const auto raised = hn::IfThenElse(rises, block, m);
    const auto factor = hn::IfThenElse(rises, exp2(d, hn::Sub(m, raised)), hn::Set(d, 1.0F));
    hn::StoreU(raised, d, lanes.running_max + lane);
    scale_sum(lanes.sum, 1, kQueryBlock, lane, factor);
    if (lanes.started) scale_sum(lanes.o, b.output_sums(), kQueryBlock, lane, factor);
  }
}

// Turns scores into probabilities relative to the running maximum, in place; continues the chains
// of `sums`, of the block's keys.
HWY_INLINE void exponentiate(const VisibleRect& rect, const Lanes& lanes, float* scores,
                             float* sums) {
  const TileTag d;
  const std::int64_t begin = rect.first_group * kQueryGroup;
  const std::int64_t end = begin + rect.groups * kQueryGroup;
  const std::int64_t keys = rect.end_key - rect.first_key;
  for (std::int64_t lane = begin; lane < end; lane += kSimdWidth) {
    const auto m = hn::LoadU(d, lanes.running_max + lane);
    auto sum = hn::LoadU(d, sums + lane);
    float* at = scores + lane;
    for (std::int64_t key = 0; key < keys; ++key, at += kQueryBlock) {
      const auto p = exp2(d, hn::Sub(hn::LoadU(d, at), m));
      sum = hn::Add(sum, p);
      hn::StoreU(p, d, at);
    }
    hn::StoreU(sum, d, sums + lane);
  }
}

// All rectangles of the block from key `begin` on, and one addition to l.
HWY_INLINE void exponentiate(const VisibleRects& rects, const Lanes& lanes, std::int64_t begin,
                             float* scores) {
  const TileTag d;
  alignas(64) float sums[kQueryBlock] = {};
  for (const VisibleRect& rect : rects) {
    exponentiate(rect, lanes, scores + (rect.first_key - begin) * kQueryBlock, sums);
  }
  for (std::int64_t lane = 0; lane < lanes.sum_rows().lanes; lane += kSimdWidth) {
    float* l = lanes.sum.chain + lane;
    hn::StoreU(hn::Add(hn::LoadU(d, l), hn::LoadU(d, sums + lane)), d, l);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
