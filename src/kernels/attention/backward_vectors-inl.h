// Gradients with vectors by distance that are added to values: what they add to the gradients of
// weights, and their own. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_BACKWARD_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_BACKWARD_VECTORS_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_BACKWARD_VECTORS_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_BACKWARD_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/attention/backward-inl.h"
#include "kernels/attention/backward_rows-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// products[vector][lane] = <vector, dO'>, which is what the vector adds to dP; their sums of
// weights begin with 0.
HWY_INLINE void begin_value_vectors(const BackwardBlock& b, const BackwardLanes& lanes) {
  const ValueVectors& v = b.value_vectors;
  if (v.count == 0) return;
  product<TileMode::store>(v.count, kGroups,
                           {.a = v.vectors,
                            .a_row = b.v_dim,
                            .a_step = 1,
                            .b = lanes.dout,
                            .b_step = kQueryBlock,
                            .c = lanes.vector_products,
                            .c_row = kQueryBlock,
                            .steps = b.v_dim});
  std::fill_n(lanes.vector_weights, v.count * kQueryBlock, 0.0F);
}

// Calls use(key of the rectangle, first lane, lanes, offset of the vector's row + the first lane)
// for the neighbouring pairs of a rectangle that have the same vector: a key with all its lanes
// where distances are clipped, else single pairs.
template <class Use>
HWY_INLINE void for_each_vector(const BackwardBlock& b, const BackwardLanes& lanes,
                                const VisibleRect& rect, const Use& use) {
  const ValueVectors& v = b.value_vectors;
  const std::int64_t begin = rect.first_group * kQueryGroup, count = rect.groups * kQueryGroup;
  for (std::int64_t key = rect.first_key; key < rect.end_key; ++key) {
    // The distances of the first and of the last lane.
    const std::int64_t first = key - (v.diagonal + lanes.first_query + begin);
    const std::int64_t last = first - (count - 1);
    const std::int64_t row = key - rect.first_key;
    if (first <= -v.largest || last >= v.largest) {
      const std::int64_t number = v.number_of[first <= -v.largest ? 0 : 2 * v.largest];
      use(row, begin, count, number * kQueryBlock + begin);
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t distance = std::clamp(first - i, -v.largest, v.largest);
      use(row, begin + i, std::int64_t{1},
          v.number_of[distance + v.largest] * kQueryBlock + begin + i);
    }
  }
}

// dP[key][lane] += <vector of the pair, dO'>.
HWY_NOINLINE void add_vector_products(const BackwardBlock& b, const BackwardLanes& lanes,
                                      const RectOperands& o) {
  for_each_vector(b, lanes, o.rect,
                  [&](std::int64_t key, std::int64_t lane, std::int64_t count, std::int64_t from) {
                    float* to = o.gradients + key * o.gradient_row + lane;
                    for (std::int64_t i = 0; i < count; ++i) {
                      to[i] += lanes.vector_products[from + i];
                    }
                  });
}

// weights[vector of the pair][lane] += P[key][lane], after dropout.
HWY_NOINLINE void sum_vector_weights(const BackwardBlock& b, const BackwardLanes& lanes,
                                     const RectOperands& o) {
  for_each_vector(b, lanes, o.rect,
                  [&](std::int64_t key, std::int64_t lane, std::int64_t count, std::int64_t to) {
                    const float* from = o.scores + key * kQueryBlock + lane;
                    for (std::int64_t i = 0; i < count; ++i)
                      lanes.vector_weights[to + i] += from[i];
                  });
}

// The gradients of the vectors += weights dO'.
HWY_INLINE void finish_value_vectors(const BackwardBlock& b, const BackwardScratch& scratch,
                                     const BackwardLanes& lanes) {
  const std::int64_t count = b.value_vectors.count, padded = padded_width(b.v_dim);
  if (count == 0 || b.value_vector_gradients == nullptr) return;
  product<TileMode::store>(count, padded / kQueryGroup,
                           {.a = lanes.vector_weights,
                            .a_row = kQueryBlock,
                            .a_step = 1,
                            .b = lanes.dout_rows,
                            .b_step = padded,
                            .c = scratch.vector_sums,
                            .c_row = padded,
                            .steps = used_lanes(lanes.queries)});
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::int64_t c = 0; c < b.v_dim; ++c) {
      b.value_vector_gradients[n * b.v_dim + c] +=
          static_cast<double>(scratch.vector_sums[n * padded + c]);
    }
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
