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

// A block of keys and their values, as the products take them.
struct KeyBlock {
  std::int64_t begin, end;
  const float *k = nullptr, *v = nullptr;  // rows; may be null with rounded products
  std::int64_t k_stride = 0, v_stride = 0;
  const bfloat16* k16 = nullptr;  // rows of rounded products; their values are in scratch.v16
  std::int64_t k16_stride = 0;
};

HWY_INLINE bool is_stored_rounded(const StoredRows& rows) {
  return rows.storage == Storage::bfloat16 && rows.channel_stride == 1;
}

// Whole tiles of keys stored in bfloat16 are read in place.
HWY_INLINE void round_keys(const AttentionBlock& b, const ForwardScratch& scratch,
                           KeyBlock& block) {
  const std::int64_t keys = block.end - block.begin;
  if (is_stored_rounded(b.k) && b.k_rotation.cos == nullptr && b.head_dim % kBf16Steps == 0 &&
      keys % kBf16Rows == 0) {
    block.k16 = static_cast<const bfloat16*>(b.k.from(block.begin).data);
    block.k16_stride = b.k.row_stride;
    return;
  }
  const float* k = load_keys(b, block.begin, keys, scratch.k);
  const std::int64_t k_stride = scratch.k != nullptr ? b.head_dim : b.k.row_stride;
  block.k16 = scratch.k16;
  block.k16_stride = bf16_steps(b.head_dim);
  b.rounded->round_rows(k, k_stride, keys, b.head_dim, scratch.k16, block.k16_stride);
}

HWY_INLINE void load_values(const AttentionBlock& b, const ForwardScratch& scratch,
                            KeyBlock& block) {
  const std::int64_t keys = block.end - block.begin;
  const StoredRows stored = b.v.from(block.begin);
  block.v = scratch.v;
  block.v_stride = b.v_dim;
  if (scratch.v != nullptr) return load_rows(stored, 0, keys, b.v_dim, scratch.v);
  block.v = static_cast<const float*>(stored.data);
  block.v_stride = b.v.row_stride;
  prefetch_rows(block.v, block.v_stride, keys, b.v_dim);
}

HWY_INLINE void round_values(const AttentionBlock& b, bool nan_safe, const ForwardScratch& scratch,
                             KeyBlock& block) {
  const std::int64_t keys = block.end - block.begin;
  if (is_stored_rounded(b.v) && !nan_safe) {
    const auto* rows = static_cast<const bfloat16*>(b.v.from(block.begin).data);
    b.rounded->transpose(rows, b.v.row_stride, b.v_dim, keys, scratch.v16, kKeyBlock);
    return;
  }
  load_values(b, scratch, block);
  b.rounded->round_columns(block.v, block.v_stride, b.v_dim, keys, nan_safe, scratch.v16,
                           kKeyBlock);
}

HWY_INLINE KeyBlock load_block(const AttentionBlock& b, bool nan_safe, std::int64_t begin,
                               std::int64_t end, const ForwardScratch& scratch) {
  KeyBlock block{.begin = begin, .end = end};
  if (b.rounded != nullptr) {
    round_keys(b, scratch, block);
    round_values(b, nan_safe, scratch, block);
    return block;
  }
  block.k = load_keys(b, begin, end - begin, scratch.k);
  block.k_stride = scratch.k != nullptr ? b.head_dim : b.k.row_stride;
  load_values(b, scratch, block);
  return block;
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
