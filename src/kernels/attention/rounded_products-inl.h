// The two products of a block of scores with factors rounded to bfloat16. Included again for each
// instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_ROUNDED_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_ROUNDED_PRODUCTS_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_ROUNDED_PRODUCTS_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_ROUNDED_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/attention/forward_scratch.h"
#include "kernels/attention/key_block-inl.h"
#include "kernels/attention/scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// Keys of a block, counted from its first.
struct BlockKeys {
  std::int64_t begin, end;
  bool is_empty() const { return begin >= end; }
};

// Those that queries of a group see, of the block [begin, end).
HWY_INLINE BlockKeys keys_of_group(const GroupRanges& ranges, std::int64_t group,
                                   std::int64_t begin, std::int64_t end) {
  if (group >= ranges.count) return {0, 0};
  return {std::max(ranges.begin[group], begin) - begin, std::min(ranges.end[group], end) - begin};
}

// Calls use(group, groups, keys) for pairs of groups of which one sees some of the block; `keys`
// are those of either.
template <class Use>
HWY_INLINE void each_two_groups(const GroupRanges& ranges, std::int64_t begin, std::int64_t end,
                                const Use& use) {
  for (std::int64_t group = 0; group < ranges.count; group += 2) {
    const BlockKeys first = keys_of_group(ranges, group, begin, end);
    const BlockKeys second = keys_of_group(ranges, group + 1, begin, end);
    if (first.is_empty() && second.is_empty()) continue;
    if (first.is_empty()) {
      use(group + 1, 1, second);
    } else if (second.is_empty()) {
      use(group, 1, first);
    } else {
      use(group, 2,
          BlockKeys{std::min(first.begin, second.begin), std::max(first.end, second.end)});
    }
  }
}

// Queries from lanes [head_dim][64].
HWY_INLINE void round_queries(const AttentionBlock& b, const float* lanes, std::int64_t groups,
                              std::uint32_t* q16) {
  for (std::int64_t group = 0; group < groups; ++group) {
    b.rounded->round_lanes(lanes + group * kQueryGroup, kQueryBlock, 0, b.head_dim, 0,
                           bf16_steps(b.head_dim), q16 + group * kQueryGroup, kQueryBlock);
  }
}

// The products of keys and queries into `scores`, of more pairs than are visible.
HWY_INLINE void multiply_scores(const AttentionBlock& b, const Lanes& lanes, const KeyBlock& block,
                                const ForwardScratch& scratch) {
  const std::int64_t steps = bf16_steps(b.head_dim);
  each_two_groups(
      lanes.ranges, block.begin, block.end,
      [&](std::int64_t group, std::int64_t groups, BlockKeys keys) {
        const std::int64_t first = keys.begin / kBf16Rows * kBf16Rows;
        b.rounded->product({.a = block.k16 + first * block.k16_stride,
                            .a_row = block.k16_stride,
                            .b = scratch.q16 + lanes.first_query / 2 * steps + group * kQueryGroup,
                            .b_row = kQueryBlock,
                            .c = scratch.scores + first * kQueryBlock + group * kQueryGroup,
                            .c_row = kQueryBlock,
                            .rows = bf16_rows(keys.end - first),
                            .lanes = groups * kQueryGroup,
                            .steps = steps});
      });
}

// Where a visible key has a weight, and an infinite or NaN value, the output is NaN: the plain path
// computes it. The rounded values are 0 there.
HWY_INLINE void spread_nonfinite(const AttentionBlock& b, const Lanes& lanes, std::int64_t group,
                                 BlockKeys keys, const KeyBlock& block, const float* weights) {
  const TileTag d;
  const auto zero = hn::Zero(d), nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t key = keys.begin; key < keys.end; ++key) {
    for (std::int64_t c = 0; c < b.v_dim; ++c) {
      if (std::isfinite(block.v[key * block.v_stride + c])) continue;
      for (std::int64_t lane = 0; lane < kQueryGroup; lane += kSimdWidth) {
        float* at = lanes.o.chain + c * kQueryBlock + group * kQueryGroup + lane;
        const auto p = hn::LoadU(d, weights + key * kQueryBlock + group * kQueryGroup + lane);
        hn::StoreU(hn::IfThenElse(hn::Eq(p, zero), hn::LoadU(d, at), nan), d, at);
      }
    }
  }
}

// O += the products of the block's values and weights: one chain over the block, added once.
HWY_INLINE void add_rounded_block(const AttentionBlock& b, const Lanes& lanes, bool nan_safe,
                                  const KeyBlock& block, const ForwardScratch& scratch) {
  if (b.v_dim == 0) return;
  each_two_groups(
      lanes.ranges, block.begin, block.end,
      [&](std::int64_t group, std::int64_t groups, BlockKeys keys) HWY_ATTR {
        const std::int64_t first = keys.begin / kBf16Steps * kBf16Steps;
        const std::int64_t steps = bf16_steps(keys.end - first);
        for (std::int64_t g = group; g < group + groups; ++g) {
          const BlockKeys own = keys_of_group(lanes.ranges, g, block.begin, block.end);
          b.rounded->round_lanes(scratch.scores + g * kQueryGroup, kQueryBlock, own.begin, own.end,
                                 first, first + steps, scratch.p16 + g * kQueryGroup, kQueryBlock);
        }
        const std::int64_t lane = group * kQueryGroup;
        b.rounded->product({.a = scratch.v16 + first,
                            .a_row = kKeyBlock,
                            .b = scratch.p16 + first / 2 * kQueryBlock + lane,
                            .b_row = kQueryBlock,
                            .c = lanes.o.chain + lane,
                            .c_row = kQueryBlock,
                            .rows = bf16_rows(b.v_dim),
                            .lanes = groups * kQueryGroup,
                            .steps = steps,
                            .added_rows = b.v_dim});
        for (std::int64_t g = group; nan_safe && g < group + groups; ++g) {
          spread_nonfinite(b, lanes, g, keys_of_group(lanes.ranges, g, block.begin, block.end),
                           block, scratch.scores);
        }
      });
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
