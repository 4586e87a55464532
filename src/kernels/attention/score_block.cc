// Scores and weights of chosen queries, in lanes like the forward kernel's:
//
//   for each block of 128 keys:   S = K Q^T, finished; raise m; l += sum of 2^(S - m)
//   for each block of 128 keys:   S = K Q^T, finished, once more; hand out 2^(S - m) / l
// The scores are computed twice, so that only one tile is stored. Stages before the softmax need no
// sum, so one pass is enough.
#include "kernels/attention/score_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/threads/scratch_divider.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/score_block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/attention/scores-inl.h"
#include "kernels/simd/pack-inl.h"
#include "kernels/simd/tile-inl.h"

#ifndef SEXTANT_KERNELS_SCORE_BLOCK_ONCE_
#define SEXTANT_KERNELS_SCORE_BLOCK_ONCE_
namespace sextant::kernels {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// The scratch, divided into 64-byte aligned arrays.
struct ScoreScratch {
  float* q;       // [head_dim][64], scaled and rotated
  float* scores;  // [128][64]
  float* bias;    // [128][64] or null
  float* rows;    // [64][head_dim]: queries on their way in
  float* k;       // [128][head_dim] or null: k is read in place
  std::int64_t size;
};

ScoreScratch divide(const AttentionBlock& b, float* memory) {
  ScratchDivider<float> arrays(memory);
  const ScratchShape needs = scratch_shape_of(b);
  ScoreScratch s{};
  s.q = arrays.take(kQueryBlock * b.head_dim);
  s.scores = arrays.take(kKeyBlock * kQueryBlock);
  s.bias = arrays.take_if(needs.tiles, kKeyBlock * kQueryBlock);
  s.rows = arrays.take(kQueryBlock * b.head_dim);
  s.k = arrays.take_if(needs.copies_k, kKeyBlock * b.head_dim);
  s.size = arrays.size();
  return s;
}

}  // namespace
}  // namespace sextant::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

HWY_INLINE void gather_queries(const ScoreBlock& s, float* rows, float* lanes) {
  const AttentionBlock& b = s.scores;
  for (std::int64_t i = 0; i < b.queries; ++i) {
    float* row = rows + i * b.head_dim;
    load_rows(b.q, s.rows[i], 1, b.head_dim, row);
    if (b.q_rotation.cos == nullptr) continue;
    rotate_rows(row, b.head_dim, 1, b.q_rotation.from(s.rows[i]));
  }
  if (b.queries < kQueryBlock) std::fill_n(lanes, b.head_dim * kQueryBlock, 0.0F);
  transpose_scaled(rows, b.head_dim, b.queries, b.head_dim, b.numbers.scale, lanes, kQueryBlock);
}

// Calls use(rectangles, begin, end, block_max) for each block of keys that some query sees, with
// its scores in the scratch and their maxima.
template <class Use>
HWY_INLINE void each_block(const AttentionBlock& b, const Lanes& lanes, const ScoreScratch& scratch,
                           const Use& use) {
  const std::int64_t last = b.key_end[b.queries - 1];
  for (std::int64_t begin = b.key_begin[0] / kKeyBlock * kKeyBlock; begin < last;
       begin += kKeyBlock) {
    const std::int64_t end = std::min<std::int64_t>(begin + kKeyBlock, last);
    const VisibleRects rects = split_visible(lanes.ranges, begin, end);
    if (rects.count == 0) continue;
    const float* k = load_keys(b, begin, end - begin, scratch.k);
    const std::int64_t k_stride = scratch.k != nullptr ? b.head_dim : b.k.row_stride;
    const float* bias = scratch.bias;
    if (bias != nullptr && b.tiles.fill(b.tiles.context, 0, b.queries, begin, end - begin,
                                        scratch.bias) == TileBias::zeros) {
      bias = nullptr;
    }
    alignas(64) float block_max[kQueryBlock];
    std::fill_n(block_max, kQueryBlock, kNothing);
    for (const VisibleRect& rect : rects) {
      const std::int64_t row = rect.first_key - begin;
      // NaN-safe, so that no second attempt is needed.
      score(b, rect, lanes, true, k + row * k_stride, k_stride, scratch.scores + row * kQueryBlock,
            bias != nullptr ? bias + row * kQueryBlock : nullptr, kQueryBlock, block_max);
    }
    use(rects, begin, end, block_max);
  }
}

// Fills the part outside all rectangles.
HWY_INLINE void fill_rest(const VisibleRects& rects, std::int64_t begin, std::int64_t end,
                          float value, float* scores) {
  std::int64_t next = begin;
  for (const VisibleRect& rect : rects) {
    std::fill(scores + (next - begin) * kQueryBlock,
              scores + (rect.first_key - begin) * kQueryBlock, value);
    next = rect.end_key;
    const std::int64_t first = rect.first_group * kQueryGroup;
    const std::int64_t last = first + rect.groups * kQueryGroup;
    if (rect.groups == kGroups) continue;
    for (std::int64_t key = rect.first_key; key < rect.end_key; ++key) {
      float* row = scores + (key - begin) * kQueryBlock;
      std::fill_n(row, first, value);
      std::fill(row + last, row + kQueryBlock, value);
    }
  }
  std::fill(scores + (next - begin) * kQueryBlock, scores + (end - begin) * kQueryBlock, value);
}

// The sums of the first pass; where `inverse` is 0 all weights are 0.
struct LaneSums {
  alignas(64) float inverse[kQueryBlock];   // 1 / l
  alignas(64) float log2_sum[kQueryBlock];  // log2(l)
};

// Scores to weights, in place; adds their entropy in bits to `entropy`.
template <bool kEntropy>
HWY_NOINLINE void normalize_weights(const VisibleRect& rect, const Lanes& lanes,
                                    const LaneSums& sums, float* scores, float* entropy) {
  const TileTag d;
  const auto zero = hn::Zero(d);
  const std::int64_t begin = rect.first_group * kQueryGroup;
  const std::int64_t end = begin + rect.groups * kQueryGroup;
  const std::int64_t keys = rect.end_key - rect.first_key;
  for (std::int64_t lane = begin; lane < end; lane += kSimdWidth) {
    const auto m = hn::LoadU(d, lanes.running_max + lane);
    const auto inverse = hn::LoadU(d, sums.inverse + lane),
               log2_sum = hn::LoadU(d, sums.log2_sum + lane);
    const auto counts = hn::Gt(inverse, zero);
    auto sum = hn::LoadU(d, entropy + lane);
    float* at = scores + lane;
    for (std::int64_t key = 0; key < keys; ++key, at += kQueryBlock) {
      const auto below = hn::Sub(hn::LoadU(d, at), m);
      const auto w = hn::IfThenElseZero(counts, hn::Mul(exp2(d, below), inverse));
      if constexpr (kEntropy) {
        // -log2(w), which is negative only by rounding; infinite if w is 0.
        const auto bits = hn::Max(hn::Sub(log2_sum, below), zero);
        sum = hn::IfThenElse(hn::Gt(w, zero), hn::MulAdd(w, bits, sum), sum);
      }
      hn::StoreU(w, d, at);
    }
    if constexpr (kEntropy) hn::StoreU(sum, d, entropy + lane);
  }
}

std::uint64_t score_block(const ScoreBlock& s, float* memory) {
  const AttentionBlock& b = s.scores;
  const ScoreScratch scratch = divide(b, memory);
  alignas(64) std::int32_t key_begin[kQueryBlock], key_end[kQueryBlock];
  for (std::int64_t i = 0; i < kQueryBlock;
       ++i) {  // lanes without a query see the keys of the last one
    key_begin[i] = b.key_begin[std::min(i, b.queries - 1)];
    key_end[i] = b.key_end[std::min(i, b.queries - 1)];
  }
  alignas(64) float running_max[kQueryBlock], sum[kQueryBlock], spans[kQueryBlock],
      low[kQueryBlock];
  Lanes lanes{.q = scratch.q,
              .running_max = running_max,
              .o = {},
              .sum = {sum, spans, low},
              .key_begin = key_begin,
              .key_end = key_end,
              .ranges = group_ranges(b.key_begin, b.key_end, b.queries),
              .first_query = 0,
              .queries = b.queries};
  gather_queries(s, scratch.rows, scratch.q);
  if (!s.probabilities) {
    each_block(b, lanes, scratch,
               [&](const VisibleRects& rects, std::int64_t begin, std::int64_t end, const float*)
                   HWY_ATTR {
                     fill_rest(rects, begin, end, kNothing, scratch.scores);
                     s.tiles.take(s.tiles.context, begin, end - begin, scratch.scores);
                   });
    return 0;
  }

  begin_sums(b.sink, running_max, lanes.sum);
  each_block(b, lanes, scratch,
             [&](const VisibleRects& rects, std::int64_t begin, std::int64_t,
                 const float* block_max) HWY_ATTR {
               begin_block(b, lanes, begin);
               rescale(b, lanes, block_max);
               exponentiate(rects, lanes, begin, scratch.scores);
             });
  finish_sum(lanes.sum, lanes.sum_rows());
  LaneSums sums{};
  std::uint64_t nonfinite = 0;
  alignas(64) float logs[kQueryBlock];
  if (b.log_sum_exp != nullptr) log_sums(running_max, sum, b.queries, logs);
  for (std::int64_t i = 0; i < b.queries; ++i) {
    if (!std::isfinite(sum[i]) || !std::isfinite(running_max[i])) {
      nonfinite |= std::uint64_t{1} << i;
      continue;
    }
    if (sum[i] > 0) {
      sums.inverse[i] = 1 / sum[i];
      sums.log2_sum[i] = std::log2(sum[i]);
    }
    if (b.log_sum_exp != nullptr) b.log_sum_exp[i * b.log_sum_exp_stride] = logs[i];
  }

  if (s.entropy != nullptr) std::fill_n(s.entropy, kQueryBlock, 0.0);
  if (s.tiles.take == nullptr && s.entropy == nullptr) return nonfinite;
  each_block(b, lanes, scratch,
             [&](const VisibleRects& rects, std::int64_t begin, std::int64_t end, const float*)
                 HWY_ATTR {
                   alignas(64) float entropy[kQueryBlock] = {};  // of this block's keys
                   for (const VisibleRect& rect : rects) {
                     float* at = scratch.scores + (rect.first_key - begin) * kQueryBlock;
                     if (s.entropy != nullptr) {
                       normalize_weights<true>(rect, lanes, sums, at, entropy);
                     } else {
                       normalize_weights<false>(rect, lanes, sums, at, entropy);
                     }
                   }
                   for (std::int64_t i = 0; s.entropy != nullptr && i < b.queries; ++i) {
                     s.entropy[i] += static_cast<double>(entropy[i]) * kLn2;
                   }
                   if (s.tiles.take == nullptr) return;
                   fill_rest(rects, begin, end, 0, scratch.scores);
                   s.tiles.take(s.tiles.context, begin, end - begin, scratch.scores);
                 });
  return nonfinite;
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(score_block);

std::int64_t score_block_scratch(const ScoreBlock& block) noexcept {
  return divide(block.scores, nullptr).size;
}

std::uint64_t score_block(const ScoreBlock& block, float* scratch) {
  apply_requested_target();
  const DenormalsOff denormals_off;
  return HWY_DYNAMIC_DISPATCH(score_block)(block, scratch);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
