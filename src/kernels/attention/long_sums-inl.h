// Sums over keys with an error that does not grow with their number (see docs/attention-kernel.md):
// a chain over the keys of a block, a chain over the blocks of a span, and over the spans a sum
// that keeps its rounding errors. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_LONG_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_LONG_SUMS_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_LONG_SUMS_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_LONG_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/attention/geometry.h"
#include "kernels/attention/long_sums.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of a sum, `stride` floats apart, and of each the lanes [0, lanes), in whole tiles.
struct SumRows {
  std::int64_t rows;
  std::ptrdiff_t stride;
  std::int64_t lanes;
};

// Calls use(index) for each vector.
template <class Use>
HWY_INLINE void each_vector(const SumRows& all, const Use& use) {
  for (std::int64_t row = 0; row < all.rows; ++row) {
    for (std::int64_t lane = 0; lane < all.lanes; lane += kSimdWidth) use(row * all.stride + lane);
  }
}

// Returns whether the block of keys from `begin` on is in another span than the blocks before it.
HWY_INLINE bool enters_span(std::int64_t begin, std::int64_t& span) {
  const std::int64_t before = span;
  span = begin / kSpan;
  return span != before;
}

// Moves the chain to the sum of spans; `low` takes the error of that addition, which is exact
// (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B). An empty chain changes nothing.
HWY_INLINE void end_span(const LongSum& sum, const SumRows& all) {
  if (sum.spans == nullptr) return;
  const TileTag d;
  each_vector(all, [&](std::int64_t at) HWY_ATTR {
    const auto x = hn::LoadU(d, sum.chain + at), before = hn::LoadU(d, sum.spans + at);
    const auto after = hn::Add(before, x);
    const auto added = hn::Sub(after, before);
    const auto lost = hn::Add(hn::Sub(before, hn::Sub(after, added)), hn::Sub(x, added));
    hn::StoreU(after, d, sum.spans + at);
    hn::StoreU(hn::Add(hn::LoadU(d, sum.low + at), lost), d, sum.low + at);
    hn::StoreU(hn::Zero(d), d, sum.chain + at);
  });
}

// The whole sum, in place of the chain.
HWY_INLINE void finish_sum(const LongSum& sum, const SumRows& all) {
  if (sum.spans == nullptr) return;
  end_span(sum, all);
  const TileTag d;
  each_vector(all, [&](std::int64_t at) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, sum.spans + at), hn::LoadU(d, sum.low + at)), d,
               sum.chain + at);
  });
}

// Rows of the lanes at `lane`, times a factor each.
HWY_INLINE void scale_sum(const LongSum& sum, std::int64_t rows, std::ptrdiff_t stride,
                          std::int64_t lane, hn::Vec<TileTag> factor) {
  const TileTag d;
  for (float* part : sum.parts()) {
    if (part == nullptr) continue;
    float* at = part + lane;
    for (std::int64_t row = 0; row < rows; ++row, at += stride) {
      hn::StoreU(hn::Mul(factor, hn::LoadU(d, at)), d, at);
    }
  }
}

// The sums of 64 lanes before any key: a sink, if there is one, has the weight 1 as the maximum.
HWY_INLINE void begin_sums(float sink, float* running_max, const LongSum& sum) {
  const bool has_sink = sink > -std::numeric_limits<float>::infinity();
  std::fill_n(running_max, kQueryBlock, has_sink ? sink : std::numeric_limits<float>::lowest());
  std::fill_n(sum.chain, kQueryBlock, 0.0F);
  std::fill_n(sum.spans, kQueryBlock, has_sink ? 1.0F : 0.0F);
  std::fill_n(sum.low, kQueryBlock, 0.0F);
}

// C (+)= A B without the numbers of A whose factor is 0, which may be infinite or NaN; otherwise
// the bits of product().
template <TileMode kMode>
HWY_NOINLINE void product_nan_safe(std::int64_t rows, std::int64_t groups, const TileOperands& o) {
  const TileTag d;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t lane = 0; lane < groups * kQueryGroup; lane += kSimdWidth) {
      float* c = o.c + row * o.c_row + lane;
      auto sum = kMode == TileMode::add ? hn::LoadU(d, c) : hn::Zero(d);
      for (std::int64_t s = 0; s < o.steps; ++s) {
        const auto factor = hn::LoadU(d, o.b + s * o.b_step + lane);
        const auto added = hn::MulAdd(hn::Set(d, o.a[row * o.a_row + s * o.a_step]), factor, sum);
        sum = hn::IfThenElse(hn::Eq(factor, hn::Zero(d)), sum, added);
      }
      hn::StoreU(kMode == TileMode::block ? hn::Add(hn::LoadU(d, c), sum) : sum, d, c);
    }
  }
}

// C += A B over the visible keys of the block from key `begin` on, the steps of `all`: from 0 one
// chain in the order of the keys, for any division, and one addition. `part` is room for another C.
HWY_INLINE void add_block(const VisibleRects& rects, std::int64_t begin, std::int64_t rows,
                          const TileOperands& all, bool nan_safe, float* part) {
  const auto multiply = [&](auto mode, const VisibleRect& rect, float* c) HWY_ATTR {
    constexpr TileMode kMode = decltype(mode)::value;
    const std::int64_t lane = rect.first_group * kQueryGroup, key = rect.first_key - begin;
    TileOperands o = all;
    o.a += key * o.a_step;
    o.b += key * o.b_step + lane;
    o.c = c + lane;
    o.steps = rect.end_key - rect.first_key;
    if (nan_safe) return product_nan_safe<kMode>(rows, rect.groups, o);
    product<kMode>(rows, rect.groups, o);
  };
  using Add = std::integral_constant<TileMode, TileMode::add>;
  using Block = std::integral_constant<TileMode, TileMode::block>;
  using Store = std::integral_constant<TileMode, TileMode::store>;
  const VisibleRects runs = joined(rects);
  if (runs.count == 1) return multiply(Block(), runs.at[0], all.c);

  std::int64_t first = kGroups, last = 0;
  for (const VisibleRect& run : runs) {
    first = std::min(first, run.first_group);
    last = std::max(last, run.first_group + run.groups);
  }
  // C has the strides of part.
  const bool begins_all = runs.at[0].first_group == first && runs.at[0].groups == last - first;
  if (!begins_all) clear_groups(rows, first * kQueryGroup, last * kQueryGroup, part);
  for (const VisibleRect& run : runs) {
    if (&run == runs.at && begins_all) {
      multiply(Store(), run, part);
    } else {
      multiply(Add(), run, part);
    }
  }
  const TileTag d;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t lane = first * kQueryGroup; lane < last * kQueryGroup; lane += kSimdWidth) {
      float* c = all.c + row * kQueryBlock + lane;
      hn::StoreU(hn::Add(hn::LoadU(d, c), hn::LoadU(d, part + row * kQueryBlock + lane)), d, c);
    }
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
