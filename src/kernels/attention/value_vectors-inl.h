// Vectors by distance that are added to values: the sums of the weights that share one, and their
// product with the vectors. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_VALUE_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_VALUE_VECTORS_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_VALUE_VECTORS_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_VALUE_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/attention/scores-inl.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The weights of a block whose distances are clipped: those of each lane have one vector, so their
// sum is one chain over the keys of the block.
struct ClippedWeights {
  alignas(64) float low[kQueryBlock] = {};   // distances <= -largest
  alignas(64) float high[kQueryBlock] = {};  // distances >= largest
};

// Adds keys [begin, end) of a tile of weights to the sums of lanes [lane, lane + kSimdWidth).
HWY_INLINE void add_keys(const float* weights, std::int64_t begin, std::int64_t end, float* sums) {
  const TileTag d;
  auto sum = hn::LoadU(d, sums);
  for (std::int64_t key = begin; key < end; ++key) {
    sum = hn::Add(sum, hn::LoadU(d, weights + key * kQueryBlock));
  }
  hn::StoreU(sum, d, sums);
}

// W[vector][lane] += the weights [keys of the block][64] of the pairs that have it. Each lane's sum
// has the order of its keys, whatever the rectangles and the width of vectors.
HWY_NOINLINE void sum_weights(const AttentionBlock& b, const VisibleRects& rects,
                              const Lanes& lanes, std::int64_t block, const float* weights) {
  const ValueVectors& v = b.value_vectors;
  float* const sums = lanes.o.chain + b.v_dim * kQueryBlock;
  ClippedWeights clipped;
  for (const VisibleRect& rect : rects) {
    const std::int64_t end_lane = (rect.first_group + rect.groups) * kQueryGroup;
    const std::int64_t begin = rect.first_key - block, end = rect.end_key - block;
    for (std::int64_t lane = rect.first_group * kQueryGroup; lane < end_lane; lane += kSimdWidth) {
      // Distances of this lane and of the last one: key - diagonal, key - (diagonal + width - 1).
      const std::int64_t diagonal = v.diagonal + lanes.first_query + lane - block;
      const std::int64_t first_inner = std::clamp(diagonal - v.largest + 1, begin, end);
      const std::int64_t first_high = std::clamp(
          diagonal + kSimdWidth - 1 + std::max<std::int64_t>(v.largest, 1), first_inner, end);
      add_keys(weights + lane, begin, first_inner, clipped.low + lane);
      for (std::int64_t key = first_inner; key < first_high; ++key) {
        const float* of_key = weights + key * kQueryBlock + lane;
        for (std::int64_t i = 0; i < kSimdWidth; ++i) {
          const std::int64_t distance = key - diagonal - i;
          if (distance <= -v.largest) {
            clipped.low[lane + i] += of_key[i];
          } else if (distance >= v.largest) {
            clipped.high[lane + i] += of_key[i];
          } else {
            sums[v.number_of[distance + v.largest] * kQueryBlock + lane + i] += of_key[i];
          }
        }
      }
      add_keys(weights + lane, first_high, end, clipped.high + lane);
    }
  }
  const TileTag d;
  float* const low = sums + v.number_of[0] * kQueryBlock;
  float* const high = sums + v.number_of[2 * v.largest] * kQueryBlock;
  for (std::int64_t lane = 0; lane < lanes.sum_rows().lanes; lane += kSimdWidth) {
    hn::StoreU(hn::Add(hn::LoadU(d, low + lane), hn::LoadU(d, clipped.low + lane)), d, low + lane);
    hn::StoreU(hn::Add(hn::LoadU(d, high + lane), hn::LoadU(d, clipped.high + lane)), d,
               high + lane);
  }
}

// O[channel][lane] += sum over the vectors of their channel times W[vector][lane].
HWY_INLINE void add_value_vectors(const AttentionBlock& b, const Lanes& lanes) {
  product<TileMode::block>(b.v_dim, lanes.ranges.count,
                           {.a = b.value_vectors.vectors,
                            .a_row = 1,
                            .a_step = b.v_dim,
                            .b = lanes.o.chain + b.v_dim * kQueryBlock,
                            .b_step = kQueryBlock,
                            .c = lanes.o.chain,
                            .c_row = kQueryBlock,
                            .steps = b.value_vectors.count});
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
