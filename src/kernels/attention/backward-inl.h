// Elementwise operations of the backward kernel: biases, probabilities, gradients, and sums along
// diagonals. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_BACKWARD_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_BACKWARD_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_BACKWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/attention/long_sums-inl.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/exp2-inl.h"
#include "kernels/simd/score_step-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A rectangle of a block of scores and the state of its lanes. Tiles point at the rectangle's first
// key and lane 0.
struct RectOperands {
  VisibleRect rect;
  ScoreNumbers<float> numbers;
  const float* bias;  // [key * bias_row + lane], or null
  std::ptrdiff_t bias_row;
  const std::int32_t *key_begin, *key_end;  // [lane]: visible keys
  float* max;                               // [lane]: m of 2^(s - m) / l
  LongSum sum;                              // [lane]: l
  const float* delta;                       // [lane]
  float* scores;                            // [key][64]: s, then P
  float* gradients;                         // [key * gradient_row + lane]: dP, then dS
  float* bias_gradients;                    // likewise or null: those of the scores with biases
  std::ptrdiff_t gradient_row;
};

// A score in two halves: before bias and mask, and after.
template <bool kSteps, bool kBias, bool kMask>
struct RectStep {
  using D = TileTag;
  using V = hn::Vec<D>;
  const RectOperands& o;
  std::int64_t lane;
  ScoreStep step;

  HWY_INLINE RectStep(const RectOperands& operands, std::int64_t at)
      : o(operands), lane(at), step(o.numbers) {}

  HWY_INLINE auto outside(std::int64_t row) const {
    const hn::RebindToSigned<D> di;
    return step.outside(hn::Set(di, static_cast<std::int32_t>(o.rect.first_key + row)),
                        hn::LoadU(di, o.key_begin + lane), hn::LoadU(di, o.key_end + lane));
  }

  HWY_INLINE V score(V scaled) const { return kSteps ? step.score(scaled) : scaled; }
  HWY_INLINE V seen(std::int64_t row, V s) const {
    const D d;
    if constexpr (kBias) s = step.biased(s, hn::LoadU(d, o.bias + row * o.bias_row + lane), false);
    if constexpr (kMask) s = hn::IfThenElse(outside(row), step.hidden(), s);
    return s;
  }
};

// The first pass, where the caller has no log-sum-exp: adds a rectangle's scores to max and sum.
// The maximum rises as in the forward kernel: a factor for every new maximum would round as often.
template <bool kSteps, bool kBias, bool kMask>
HWY_NOINLINE void add_to_sums(const RectOperands& o) {
  const TileTag d;
  const std::int64_t begin = o.rect.first_group * kQueryGroup;
  const std::int64_t end = begin + o.rect.groups * kQueryGroup;
  const std::int64_t keys = o.rect.end_key - o.rect.first_key;
  for (std::int64_t lane = begin; lane < end; lane += kSimdWidth) {
    const RectStep<kSteps, kBias, kMask> step(o, lane);
    const auto before = hn::LoadU(d, o.max + lane);
    auto block = before;
    float* at = o.scores + lane;
    for (std::int64_t row = 0; row < keys; ++row) {
      const auto s = step.seen(row, step.score(hn::LoadU(d, at + row * kQueryBlock)));
      block = hn::Max(block, s);
      hn::StoreU(s, d, at + row * kQueryBlock);
    }
    const auto rises = hn::Gt(block, hn::Add(before, hn::Set(d, kRescaleThreshold)));
    const auto max = hn::IfThenElse(rises, block, before);
    if (!hn::AllFalse(d, rises)) {
      const auto factor = exp2(d, hn::Sub(before, max));
      scale_sum(o.sum, 1, kQueryBlock, lane, hn::IfThenElse(rises, factor, hn::Set(d, 1.0F)));
      hn::StoreU(max, d, o.max + lane);
    }
    auto sum = hn::Zero(d);
    for (std::int64_t row = 0; row < keys; ++row) {
      sum = hn::Add(sum, exp2(d, hn::Sub(hn::LoadU(d, at + row * kQueryBlock), max)));
    }
    hn::StoreU(hn::Add(hn::LoadU(d, o.sum.chain + lane), sum), d, o.sum.chain + lane);
  }
}

// Scores to P and dP to dS = P (dP - delta), through the steps before the bias. Returns whether all
// are finite.
template <bool kSteps, bool kBias, bool kMask>
HWY_NOINLINE bool score_gradients(const RectOperands& o) {
  const TileTag d;
  const auto zero = hn::Zero(d);
  const std::int64_t begin = o.rect.first_group * kQueryGroup;
  const std::int64_t end = begin + o.rect.groups * kQueryGroup;
  const std::int64_t keys = o.rect.end_key - o.rect.first_key;
  auto nan_probe = zero;  // 0 or NaN
  for (std::int64_t lane = begin; lane < end; lane += kSimdWidth) {
    const RectStep<kSteps, kBias, kMask> step(o, lane);
    const auto max = hn::LoadU(d, o.max + lane), delta = hn::LoadU(d, o.delta + lane);
    float* score = o.scores + lane;
    float* gradient = o.gradients + lane;
    for (std::int64_t row = 0; row < keys;
         ++row, score += kQueryBlock, gradient += o.gradient_row) {
      const auto s = step.score(hn::LoadU(d, score));
      const auto p = exp2(d, hn::Sub(step.seen(row, s), max));
      auto ds = hn::Mul(p, hn::Sub(hn::LoadU(d, gradient), delta));
      if constexpr (kMask) ds = hn::IfThenElse(step.outside(row), zero, ds);
      hn::StoreU(p, d, score);
      if constexpr (kSteps) {
        if (o.bias_gradients != nullptr)
          hn::StoreU(ds, d, o.bias_gradients + row * o.gradient_row + lane);
        ds = step.step.backward(ds, s);
      }
      nan_probe = hn::MulAdd(ds, zero, nan_probe);
      hn::StoreU(ds, d, gradient);
    }
  }
  return hn::AllTrue(d, hn::Eq(nan_probe, zero));
}

// line[lane - key] += tile[key][lane], as sums along diagonals: n keys at a time, each read one
// lane further right than the one before it, so that a vector stays on its diagonals. Beside the
// lanes the tile must hold kQueryGroup zeros on both sides.
HWY_INLINE void add_diagonals(const float* tile, std::ptrdiff_t row, std::int64_t keys,
                              float* line) {
  const TileTag d;
  constexpr std::int64_t n = kSimdWidth;
  for (std::int64_t key = 0; key < keys; key += n) {
    const std::int64_t rows = std::min(n, keys - key);
    for (std::int64_t lane = -n; lane < kQueryBlock; lane += n) {
      auto sum = hn::Zero(d);
      const float* from = tile + key * row + lane;
      for (std::int64_t r = 0; r < rows; ++r, from += row + 1)
        sum = hn::Add(sum, hn::LoadU(d, from));
      float* to = line + lane - key;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sum), d, to);
    }
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
