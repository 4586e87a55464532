// The backward kernel, queries in lanes like the forward one (Dao 2023, 2307.08691, algorithm 2,
// transposed). With dO' = dO / l, so that P needs no division:
//
//   for each block of 64 keys:  for each 64 of up to 128 queries:
//     S[key][query]  = K Q^T              tiles (tile-inl.h)
//     dP[key][query] = V dO'^T
//     P = 2^(S - m), dS = P (dP - delta)  in place; with dropout D, of D dP, and then P = D P
//     dV[key] += P dO',  dK[key] += dS Q  tiles whose lanes are channels
//     dQ[channel][query] += K^T dS
//   dq = scale dQ, rotated back
//
// Five products of the same size, nothing computed twice, and nothing packed but 64 rows of Q, O'
// and dO' at a time.
#include "kernels/attention/backward_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/backward_scratch.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/backward_block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/attention/backward-inl.h"
#include "kernels/attention/backward_rows-inl.h"
#include "kernels/attention/backward_tiles-inl.h"
#include "kernels/attention/backward_vectors-inl.h"
#include "kernels/attention/dropout-inl.h"
#include "kernels/simd/pack-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// One block of keys for 64 lanes; returns whether all was finite.
HWY_INLINE bool backward_key_block(const BackwardBlock& b, const BackwardScratch& scratch,
                                   BackwardLanes& lanes, const KeyBlock& keys) {
  const VisibleRects rects = split_visible(lanes.ranges, keys.begin, keys.end);
  if (rects.count == 0) return true;
  if (enters_span(keys.begin, lanes.span)) end_span(lanes.dq, lanes.dq_rows(b.head_dim));
  const TileBias tile = fill_biases(b, scratch, lanes, keys);
  if (tile == TileBias::hidden) return true;
  bool finite = true;
  for (const VisibleRect& rect : rects) {
    const RectOperands o = operands(b, scratch, lanes, keys, rect, tile);
    const std::int64_t row = rect.first_key - keys.begin;
    rows_by_lanes(o, keys.k + row * keys.k_stride, keys.k_stride, b.head_dim, lanes.q, o.scores,
                  kQueryBlock);
    rows_by_lanes(o, keys.v + row * keys.v_stride, keys.v_stride, b.v_dim, lanes.dout, o.gradients,
                  o.gradient_row);
    if (b.value_vectors.count > 0) add_vector_products(b, lanes, o);
    if (b.dropout.is_on()) {
      drop_weights(b.dropout, rect, lanes.first_query, o.gradients, o.gradient_row);
    }
    finite &= dispatch_score_steps(
        o.numbers, o.bias != nullptr, o.rect.needs_mask, [&](auto steps, auto bias, auto edge) {
          return score_gradients<decltype(steps)::value, decltype(bias)::value,
                                 decltype(edge)::value>(o);
        });
    if (b.dropout.is_on()) {
      drop_weights(b.dropout, rect, lanes.first_query, o.scores, kQueryBlock);
    }
    if (b.value_vectors.count > 0) sum_vector_weights(b, lanes, o);
    add_to_keys(o, o.scores, kQueryBlock, lanes.dout_rows, b.v_dim, b.dv.chain);
    add_to_keys(o, o.gradients, o.gradient_row, lanes.q_rows, b.head_dim, b.dk.chain);
    emit_bias_gradients(b, lanes, o);
  }
  if (b.dq.data != nullptr) {
    add_block(rects, keys.begin, b.head_dim,
              {.a = keys.k,
               .a_row = 1,
               .a_step = keys.k_stride,
               .b = scratch.gradients,
               .b_step = scratch.gradient_row,
               .c = lanes.dq.chain,
               .c_row = kQueryBlock,
               .steps = keys.end - keys.begin},
              false, scratch.part);
  }
  return finite;
}

// Adds the same block to the sums of weights.
HWY_INLINE void sum_block(const BackwardBlock& b, const BackwardScratch& scratch,
                          BackwardLanes& lanes, const KeyBlock& keys) {
  const VisibleRects rects = split_visible(lanes.ranges, keys.begin, keys.end);
  if (rects.count == 0) return;
  if (enters_span(keys.begin, lanes.span)) end_span(lanes.sum, lanes.sum_rows());
  const TileBias tile = fill_biases(b, scratch, lanes, keys);
  if (tile == TileBias::hidden) return;
  for (const VisibleRect& rect : rects) {
    const RectOperands o = operands(b, scratch, lanes, keys, rect, tile);
    rows_by_lanes(o, keys.k + (rect.first_key - keys.begin) * keys.k_stride, keys.k_stride,
                  b.head_dim, lanes.q, o.scores, kQueryBlock);
    dispatch_score_steps(
        o.numbers, o.bias != nullptr, o.rect.needs_mask, [&](auto steps, auto bias, auto edge) {
          add_to_sums<decltype(steps)::value, decltype(bias)::value, decltype(edge)::value>(o);
        });
  }
}

// Calls use(block of keys) for all visible blocks.
template <class Use>
HWY_INLINE void for_each_key_block(const BackwardBlock& b, const BackwardScratch& scratch,
                                   bool with_v, const Use& use) {
  const std::int64_t end = b.key_end[b.queries - 1];
  for (std::int64_t key = b.key_begin[0] / kBackwardKeys * kBackwardKeys; key < end;
       key += kBackwardKeys) {
    const std::int64_t count = std::min<std::int64_t>(kBackwardKeys, end - key);
    KeyBlock keys{key, key + count, scratch.k, scratch.v, b.head_dim, b.v_dim};
    if (scratch.k == nullptr) {
      keys.k = static_cast<const float*>(b.k.data) + key * b.k.row_stride;
      keys.k_stride = b.k.row_stride;
      prefetch_rows(keys.k, keys.k_stride, count, b.head_dim);
    } else {
      load_rows(b.k, key, count, b.head_dim, scratch.k);
      rotate_range(b.k_rotation, key, count, false, scratch.k, b.head_dim);
    }
    if (scratch.v == nullptr) {
      keys.v = static_cast<const float*>(b.v.data) + key * b.v.row_stride;
      keys.v_stride = b.v.row_stride;
      if (with_v) prefetch_rows(keys.v, keys.v_stride, count, b.v_dim);
    } else if (with_v) {
      load_rows(b.v, key, count, b.v_dim, scratch.v);
    }
    use(keys);
  }
}

bool backward_block(const BackwardBlock& b, float* memory) {
  const BackwardScratch scratch = divide(b, memory);
  const std::int64_t blocks = (b.queries + kQueryBlock - 1) / kQueryBlock;
  const bool has_sink = b.sink > -std::numeric_limits<float>::infinity();
  alignas(64) std::int32_t key_begin[kBackwardQueries], key_end[kBackwardQueries];
  BackwardLanes lanes[kBackwardQueries / kQueryBlock];
  for (std::int64_t n = 0; n < blocks; ++n) {
    const std::int64_t lane = n * kQueryBlock;
    const std::int64_t count = std::min<std::int64_t>(kQueryBlock, b.queries - lane);
    fill_lanes(b.key_begin + lane, count, key_begin + lane);
    fill_lanes(b.key_end + lane, count, key_end + lane);
    lanes[n] = {.q = scratch.q + lane * b.head_dim,
                .dout = scratch.dout + lane * b.v_dim,
                .q_rows = scratch.q_rows + lane * padded_width(b.head_dim),
                .dout_rows = scratch.dout_rows + lane * padded_width(b.v_dim),
                .running_max = scratch.running_max + lane,
                .delta = scratch.delta + lane,
                .vector_products = scratch.vector_products + lane * b.value_vectors.count,
                .vector_weights = scratch.vector_weights + lane * b.value_vectors.count,
                .dq = scratch.dq.from(lane * b.head_dim),
                .sum = scratch.sum.from(lane),
                .key_begin = key_begin + lane,
                .key_end = key_end + lane,
                .ranges = group_ranges(b.key_begin + lane, b.key_end + lane, count),
                .first_query = lane,
                .queries = count,
                .has_log_sum_exp = has_log_sum_exp(b, lane, count)};
    load_padded(b.q, lane, count, b.head_dim, scratch.rows, lanes[n].q_rows);
    rotate_range(b.q_rotation, lane, count, false, lanes[n].q_rows, padded_width(b.head_dim));
    load_lanes(lanes[n].q_rows, count, b.head_dim, b.numbers.scale, lanes[n].q);
    begin_sums(b.sink, lanes[n].running_max, lanes[n].sum);
    for (float* part : lanes[n].dq.parts()) {
      if (part != nullptr) clear_groups(b.head_dim, 0, count, part);
    }
  }
  const auto know = [](const BackwardLanes& block) { return block.has_log_sum_exp; };
  if (!std::all_of(lanes, lanes + blocks, know)) {
    for_each_key_block(b, scratch, false, [&](const KeyBlock& keys) HWY_ATTR {
      for (std::int64_t n = 0; n < blocks; ++n) {
        if (!lanes[n].has_log_sum_exp) sum_block(b, scratch, lanes[n], keys);
      }
    });
  }
  for (std::int64_t n = 0; n < blocks; ++n) {
    normalize(b, lanes[n]);
    lanes[n].span = 0;
    load_output_gradients(b, scratch, lanes[n]);
    sum_outputs(b, scratch, lanes[n]);
    begin_value_vectors(b, lanes[n]);
  }
  if (b.wants_line_gradient) {
    for (float* tile : {scratch.gradients, scratch.bias_gradients}) {
      if (tile != nullptr) {
        std::fill_n(tile - kQueryGroup, kBackwardKeys * scratch.gradient_row, 0.0F);
      }
    }
  }

  bool finite = true;
  for_each_key_block(b, scratch, true, [&](const KeyBlock& keys) HWY_ATTR {
    if (b.key_order.context != nullptr) b.key_order.wait(b.key_order.context, keys.begin);
    if (b.begins_span) {
      end_query_span(b.dk, b.head_dim, keys);
      end_query_span(b.dv, b.v_dim, keys);
    }
    for (std::int64_t n = 0; n < blocks; ++n)
      finite &= backward_key_block(b, scratch, lanes[n], keys);
    if (b.key_order.context != nullptr) b.key_order.done(b.key_order.context, keys.end);
  });

  for (std::int64_t n = 0; n < blocks; ++n) {
    if (b.dq.data != nullptr) finite &= store_query_gradients(b, scratch, lanes[n]);
    finish_value_vectors(b, scratch, lanes[n]);
    if (b.sink_gradient == nullptr || !has_sink) continue;
    for (std::int64_t i = 0; i < lanes[n].queries; ++i) {
      const double share =
          std::exp2(static_cast<double>(b.sink) - static_cast<double>(lanes[n].running_max[i]));
      *b.sink_gradient -= share * static_cast<double>(lanes[n].delta[i]);
    }
  }
  return finite;
}

bool store_key_gradients(const KeyGradients& sums, float scale, const RotationRows& rotation,
                         const StoredOutput& to) {
  const TileTag d;
  const std::int64_t padded = padded_width(sums.width);
  for (std::int64_t n = 0; sums.spans != nullptr && n < sums.keys * padded; n += kSimdWidth) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums.spans + n), hn::LoadU(d, sums.rows + n)), d,
               sums.rows + n);
  }
  rotate_range(rotation, 0, sums.keys, true, sums.rows, padded);
  const auto factor = hn::Set(d, scale);
  auto nan_probe = hn::Zero(d);  // 0 or NaN
  for (float* x = sums.rows; x < sums.rows + sums.keys * padded; x += kSimdWidth) {
    const auto scaled = hn::Mul(hn::LoadU(d, x), factor);
    nan_probe = hn::MulAdd(scaled, hn::Zero(d), nan_probe);
    hn::StoreU(scaled, d, x);
  }
  if (sums.terms != nullptr) {
    add_terms(sums.terms, sums.keys, sums.width, sums.rows, padded);
    if (!all_finite(sums.rows, sums.keys * padded)) return false;
  }
  write_rows(sums.rows, padded, sums.keys, sums.width, to, 0);
  return hn::AllTrue(d, hn::Eq(nan_probe, hn::Zero(d)));
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(backward_block);
HWY_EXPORT(store_key_gradients);

std::int64_t backward_block_scratch(const BackwardBlock& block) noexcept {
  return divide(block, nullptr).size;
}

bool backward_block(const BackwardBlock& block, float* scratch) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  return HWY_DYNAMIC_DISPATCH(backward_block)(block, scratch);
}

bool store_key_gradients(const KeyGradients& sums, float scale, const RotationRows& rotation,
                         const StoredOutput& to) noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(store_key_gradients)(sums, scale, rotation, to);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
