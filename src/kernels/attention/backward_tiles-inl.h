// One rectangle of the backward kernel: its operands, its products, and what becomes of the
// gradients of its biases. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_BACKWARD_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_BACKWARD_TILES_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_BACKWARD_TILES_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_BACKWARD_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention/backward-inl.h"
#include "kernels/attention/backward_rows-inl.h"
#include "kernels/attention/backward_scratch.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A block of keys: rows of k and v from `begin` on.
struct KeyBlock {
  std::int64_t begin, end;
  const float *k, *v;
  std::int64_t k_stride, v_stride;
};

// The operands of one rectangle.
HWY_INLINE RectOperands operands(const BackwardBlock& b, const BackwardScratch& scratch,
                                 const BackwardLanes& lanes, const KeyBlock& keys,
                                 const VisibleRect& rect, TileBias tile) {
  const std::int64_t row = rect.first_key - keys.begin;
  RectOperands o{};
  o.rect = rect;
  o.numbers = b.numbers;
  if (b.line != nullptr) {
    o.bias = b.line + (lanes.first_query - (rect.first_key - b.diagonal_bias_key));
    o.bias_row = -1;
  } else if (tile == TileBias::numbers) {
    o.bias = scratch.bias + row * kQueryBlock;
    o.bias_row = kQueryBlock;
  }
  o.key_begin = lanes.key_begin;
  o.key_end = lanes.key_end;
  o.max = lanes.running_max;
  o.sum = lanes.sum;
  o.delta = lanes.delta;
  o.scores = scratch.scores + row * kQueryBlock;
  o.gradient_row = scratch.gradient_row;
  o.gradients = scratch.gradients + row * o.gradient_row;
  o.bias_gradients =
      scratch.bias_gradients == nullptr ? nullptr : scratch.bias_gradients + row * o.gradient_row;
  return o;
}

// Hidden: nothing is to be added to any sum.
HWY_NOINLINE TileBias fill_tile(const BackwardBlock& b, const BackwardScratch& scratch,
                                const BackwardLanes& lanes, const KeyBlock& keys) {
  const std::int64_t count = keys.end - keys.begin;
  return b.tiles.fill(b.tiles.context, lanes.first_query, lanes.queries, keys.begin, count,
                      scratch.bias);
}
HWY_INLINE TileBias fill_biases(const BackwardBlock& b, const BackwardScratch& scratch,
                                const BackwardLanes& lanes, const KeyBlock& keys) {
  return b.tiles.fill == nullptr ? TileBias::zeros : fill_tile(b, scratch, lanes, keys);
}

// c[key][lane] = <row of keys, lane>.
HWY_INLINE void rows_by_lanes(const RectOperands& o, const float* rows, std::int64_t stride,
                              std::int64_t width, const float* lanes, float* c,
                              std::ptrdiff_t c_row) {
  const std::int64_t lane = o.rect.first_group * kQueryGroup;
  product<TileMode::store>(o.rect.end_key - o.rect.first_key, o.rect.groups,
                           {.a = rows,
                            .a_row = stride,
                            .a_step = 1,
                            .b = lanes + lane,
                            .b_step = kQueryBlock,
                            .c = c + lane,
                            .c_row = c_row,
                            .steps = width});
}

// sums[key] += sum over lanes of weights[key][lane] rows[lane]. A key is in one rectangle of a
// block only.
HWY_INLINE void add_to_keys(const RectOperands& o, const float* weights, std::ptrdiff_t row,
                            const float* rows, std::int64_t width, float* sums) {
  if (sums == nullptr) return;
  const std::int64_t lane = o.rect.first_group * kQueryGroup, padded = padded_width(width);
  product<TileMode::block>(o.rect.end_key - o.rect.first_key, padded / kQueryGroup,
                           {.a = weights + lane,
                            .a_row = row,
                            .a_step = 1,
                            .b = rows + lane * padded,
                            .b_step = padded,
                            .c = sums + o.rect.first_key * padded,
                            .c_row = padded,
                            .steps = o.rect.groups * kQueryGroup});
}

// Moves the sums of a block of keys to those of all spans of queries.
HWY_INLINE void end_query_span(const QuerySums& sums, std::int64_t width, const KeyBlock& keys) {
  if (sums.spans == nullptr) return;
  const TileTag d;
  const std::int64_t padded = padded_width(width);
  for (std::int64_t n = keys.begin * padded; n < keys.end * padded; n += kSimdWidth) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums.spans + n), hn::LoadU(d, sums.chain + n)), d,
               sums.spans + n);
    hn::StoreU(hn::Zero(d), d, sums.chain + n);
  }
}

// Adds the gradients of a rectangle's scores to those of its biases.
HWY_INLINE void emit_bias_gradients(const BackwardBlock& b, const BackwardLanes& lanes,
                                    const RectOperands& o) {
  float* tile = o.bias_gradients != nullptr ? o.bias_gradients : o.gradients;
  const std::int64_t keys = o.rect.end_key - o.rect.first_key;
  const std::int64_t lane = o.rect.first_group * kQueryGroup;
  const std::int64_t end = lane + o.rect.groups * kQueryGroup;
  if (b.gradient_tiles.take != nullptr && lane < lanes.queries) {
    b.gradient_tiles.take(b.gradient_tiles.context, lanes.first_query + lane,
                          std::min(end, lanes.queries) - lane, o.rect.first_key, keys, tile + lane,
                          o.gradient_row);
  }
  if (!b.wants_line_gradient) return;
  if (o.rect.groups < kGroups) {
    for (std::int64_t j = 0; j < keys; ++j) {
      std::fill_n(tile + j * o.gradient_row, lane, 0.0F);
      std::fill_n(tile + j * o.gradient_row + end, kQueryBlock - end, 0.0F);
    }
  }
  add_diagonals(
      tile, o.gradient_row, keys,
      b.diagonal_bias_gradient + (lanes.first_query - (o.rect.first_key - b.diagonal_bias_key)));
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
