// The forward kernel, queries in lanes: scores, their maximum, probabilities and outputs of 64
// queries at a time, transposed, so that nothing ever runs along a row of scores.
//
//   for each block of 128 keys:  for each 64 of up to 256 queries:
//     S[key][query] = K Q^T               tiles (tile-inl.h), the maximum of each lane on the way;
//                                         or rounded products (bf16_products.h), here and for O
//     finish S                            softcap, biases, hidden pairs: only where there are any
//     raise the running maximum m         of the lanes that need it; O and l follow
//     S = 2^(S - m), l += its sum         in place
//     drop weights of S                   with dropout
//     O[channel][query] += V^T S          tiles
//     W[vector][query] += S               where vectors by distance are added to values
//   out = (O + vectors^T W) / l
#include "kernels/attention/block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attention/forward_scratch.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/attention/dropout-inl.h"
#include "kernels/attention/key_block-inl.h"
#include "kernels/attention/rounded_products-inl.h"
#include "kernels/attention/scores-inl.h"
#include "kernels/attention/value_vectors-inl.h"
#include "kernels/simd/bounds-inl.h"
#include "kernels/simd/pack-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// One block of keys for 64 lanes.
HWY_INLINE void attend(const AttentionBlock& b, Lanes& lanes, bool nan_safe,
                       const ForwardScratch& scratch, const KeyBlock& block) {
  const std::int64_t begin = block.begin, end = block.end;
  const VisibleRects rects = split_visible(lanes.ranges, begin, end);
  if (rects.count == 0) return;
  begin_block(b, lanes, begin);
  alignas(64) float block_max[kQueryBlock];
  std::fill_n(block_max, kQueryBlock, -std::numeric_limits<float>::infinity());
  TileBias tile = TileBias::zeros;
  if (b.tiles.fill != nullptr) {
    tile = b.tiles.fill(b.tiles.context, lanes.first_query, lanes.queries, begin, end - begin,
                        scratch.bias);
    if (tile == TileBias::hidden) return;  // zeros would be added
  }
  if (b.rounded != nullptr) {
    b.rounded->begin();
    multiply_scores(b, lanes, block, scratch);
  }
  for (const VisibleRect& rect : rects) {
    const std::int64_t row = rect.first_key - begin;
    const float* k = block.k == nullptr ? nullptr : block.k + row * block.k_stride;
    const float* bias = nullptr;
    std::ptrdiff_t bias_row = 0;
    if (b.line != nullptr) {
      bias = b.line + (lanes.first_query - (rect.first_key - b.diagonal_bias_key));
      bias_row = -1;
    } else if (tile == TileBias::numbers) {
      bias = scratch.bias + row * kQueryBlock;
      bias_row = kQueryBlock;
    }
    score(b, rect, lanes, nan_safe, k, block.k_stride, scratch.scores + row * kQueryBlock, bias,
          bias_row, block_max);
  }
  rescale(b, lanes, block_max);
  exponentiate(rects, lanes, begin, scratch.scores);
  if (b.dropout.is_on()) {
    for (const VisibleRect& rect : rects) {
      drop_weights(b.dropout, rect, lanes.first_query,
                   scratch.scores + (rect.first_key - begin) * kQueryBlock, kQueryBlock);
    }
  }
  if (b.rounded != nullptr) {
    add_rounded_block(b, lanes, nan_safe, block, scratch);
    b.rounded->end();
  } else {
    add_block(rects, begin, b.v_dim,
              {.a = block.v,
               .a_row = 1,
               .a_step = block.v_stride,
               .b = scratch.scores,
               .b_step = kQueryBlock,
               .c = lanes.o.chain,
               .c_row = kQueryBlock,
               .steps = end - begin},
              nan_safe, scratch.part);
  }
  if (b.value_vectors.count > 0) sum_weights(b, rects, lanes, begin, scratch.scores);
  lanes.started = true;
}

// Queries [first, first + count) as lanes, scaled and rotated; the rest of their last group is
// zeros.
HWY_INLINE void load_queries(const AttentionBlock& b, std::int64_t first, std::int64_t count,
                             float* rows, float* lanes) {
  clear_rest(b.head_dim, count, lanes);
  if (b.q.is_plain() && b.q_rotation.cos == nullptr) {
    transpose_scaled(static_cast<const float*>(b.q.data) + first * b.q.row_stride, b.q.row_stride,
                     count, b.head_dim, b.numbers.scale, lanes, kQueryBlock);
    return;
  }
  load_rows(b.q, first, count, b.head_dim, rows);
  if (b.q_rotation.cos != nullptr) {
    rotate_rows(rows, b.head_dim, count, b.q_rotation.from(first));
  }
  transpose_scaled(rows, b.head_dim, count, b.head_dim, b.numbers.scale, lanes, kQueryBlock);
}

// Ends the sums and divides O by l; returns which lanes are finite.
HWY_INLINE std::uint64_t normalize(const AttentionBlock& b, const Lanes& lanes) {
  finish_sum(lanes.sum, lanes.sum_rows());
  finish_sum(lanes.o, lanes.o_rows(b));
  if (b.value_vectors.count > 0) add_value_vectors(b, lanes);
  const TileTag d;
  std::uint64_t finite = 0;
  for (std::int64_t lane = 0; lane < lanes.queries; lane += kSimdWidth) {
    const auto sum = hn::LoadU(d, lanes.sum.chain + lane);
    const auto zero = hn::Zero(d);
    const auto inverse = hn::IfThenElse(hn::Eq(sum, zero), zero, hn::Div(hn::Set(d, 1.0F), sum));
    auto nan_probe =
        hn::Mul(zero, hn::Add(sum, hn::LoadU(d, lanes.running_max + lane)));  // 0 or NaN
    for (std::int64_t c = 0; c < b.v_dim; ++c) {
      float* at = lanes.o.chain + c * kQueryBlock + lane;
      const auto value = hn::MulAdd(hn::LoadU(d, at), inverse, zero);  // no -0
      nan_probe = hn::MulAdd(value, zero, nan_probe);
      hn::StoreU(value, d, at);
    }
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Eq(nan_probe, zero), bits);
    std::uint64_t these = 0;
    std::memcpy(&these, bits, sizeof these);
    finite |= (these & ((std::uint64_t{1} << kSimdWidth) - 1)) << lane;
  }
  return finite;
}

std::uint64_t all_of(const Lanes& lanes) { return ~std::uint64_t{0} >> (64 - lanes.queries); }

// Writes the `wanted` lanes as rows.
HWY_INLINE void store_rows(const AttentionBlock& b, const Lanes& lanes, std::uint64_t wanted,
                           float* rows) {
  const StoredOutput& out = b.out;
  const std::int64_t begin = lanes.first_query * out.row_stride;
  if (wanted == all_of(lanes) && out.storage == Storage::float32 && out.channel_stride == 1) {
    transpose_scaled(lanes.o.chain, kQueryBlock, b.v_dim, lanes.queries, 1.0F,
                     static_cast<float*>(out.data) + begin, out.row_stride);
    return;
  }
  transpose_scaled(lanes.o.chain, kQueryBlock, b.v_dim, lanes.queries, 1.0F, rows, b.v_dim);
  for (std::int64_t i = 0; i < lanes.queries; ++i) {
    if ((wanted >> i & 1) == 0) continue;
    const float* from = rows + i * b.v_dim;
    const auto store = [&](auto* to) {
      store_row(from, b.v_dim, to + begin + i * out.row_stride, out.channel_stride);
    };
    switch (out.storage) {
      case Storage::float32:
        store(static_cast<float*>(out.data));
        break;
      case Storage::float16:
        store(static_cast<float16*>(out.data));
        break;
      case Storage::bfloat16:
        store(static_cast<bfloat16*>(out.data));
        break;
      case Storage::int8:
        break;
    }
  }
}

// Computes the wanted rows and returns those that are not finite.
NonfiniteRows attention_block(const AttentionBlock& b, bool nan_safe, const NonfiniteRows& wanted,
                              float* memory) {
  const ForwardScratch scratch = divide(scratch_shape_of(b), memory);
  const std::int64_t blocks = (b.queries + kQueryBlock - 1) / kQueryBlock;
  alignas(64) std::int32_t key_begin[kTaskQueries], key_end[kTaskQueries];
  Lanes lanes[kTaskQueries / kQueryBlock];
  for (std::int64_t n = 0; n < blocks; ++n) {
    const std::int64_t lane = n * kQueryBlock;
    const std::int64_t count = std::min<std::int64_t>(kQueryBlock, b.queries - lane);
    fill_lanes(b.key_begin + lane, count, key_begin + lane);
    fill_lanes(b.key_end + lane, count, key_end + lane);
    lanes[n] = {.q = scratch.q + lane * b.head_dim,
                .running_max = scratch.running_max + lane,
                .o = scratch.o.from(lane * b.output_sums()),
                .sum = scratch.sum.from(lane),
                .key_begin = key_begin + lane,
                .key_end = key_end + lane,
                .ranges = group_ranges(b.key_begin + lane, b.key_end + lane, count),
                .first_query = lane,
                .queries = count};
    load_queries(b, lane, count, scratch.rows, lanes[n].q);
    if (b.rounded != nullptr) {
      round_queries(b, lanes[n].q, lanes[n].ranges.count,
                    scratch.q16 + lane / 2 * bf16_steps(b.head_dim));
    }
    for (float* part : lanes[n].o.parts()) {
      if (part != nullptr) clear_groups(b.output_sums(), 0, count, part);
    }
    begin_sums(b.sink, lanes[n].running_max, lanes[n].sum);
  }

  const std::int64_t end = b.key_end[b.queries - 1];
  for (std::int64_t key = b.key_begin[0] / kKeyBlock * kKeyBlock; key < end; key += kKeyBlock) {
    const KeyBlock block =
        load_block(b, nan_safe, key, std::min<std::int64_t>(key + kKeyBlock, end), scratch);
    for (std::int64_t n = 0; n < blocks; ++n) attend(b, lanes[n], nan_safe, scratch, block);
  }

  NonfiniteRows nonfinite;
  for (std::int64_t n = 0; n < blocks; ++n) {
    const std::uint64_t finite = normalize(b, lanes[n]);
    const std::uint64_t done =
        (nan_safe ? wanted.bits[n] : finite & wanted.bits[n]) & all_of(lanes[n]);
    if (done != 0) store_rows(b, lanes[n], done, scratch.rows);
    nonfinite.bits[n] = ~finite & wanted.bits[n] & all_of(lanes[n]);
    if (b.log_sum_exp == nullptr) continue;
    alignas(64) float logs[kQueryBlock];
    log_sums(lanes[n].running_max, lanes[n].sum.chain, lanes[n].queries, logs);
    for (std::int64_t i = 0; i < lanes[n].queries; ++i) {
      if ((done >> i & 1) == 0) continue;
      b.log_sum_exp[(lanes[n].first_query + i) * b.log_sum_exp_stride] = logs[i];
    }
  }
  return nonfinite;
}

void biases_to_lanes(const float* rows, std::int64_t row_stride, std::int64_t queries,
                     std::int64_t keys, float* tile) {
  transpose(rows, row_stride, queries, keys, tile, kQueryBlock, [](auto d, auto x) HWY_ATTR {
    const auto none = hn::Set(d, -std::numeric_limits<float>::infinity());
    const auto lowest = hn::Set(d, std::numeric_limits<float>::lowest());
    const auto y = at_least(lowest, hn::Mul(x, hn::Set(d, static_cast<float>(kLog2E))));
    return hn::IfThenElse(hn::Eq(x, none), none, y);
  });
}

TileShape attention_tile() { return {tile_rows(kTileVectors), kTileVectors * kSimdWidth}; }

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(attention_tile);

HWY_EXPORT(attention_block);
HWY_EXPORT(biases_to_lanes);

TileShape attention_tile() noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(attention_tile)();
}

void biases_to_lanes(const float* rows, std::int64_t row_stride, std::int64_t queries,
                     std::int64_t keys, float* tile) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(biases_to_lanes)(rows, row_stride, queries, keys, tile);
}

ScratchShape scratch_shape_of(const AttentionBlock& b) noexcept {
  return {.queries = b.queries,
          .head_dim = b.head_dim,
          .v_dim = b.v_dim,
          .spans = b.key_end[b.queries - 1] > kSpan,
          .tiles = b.tiles.fill != nullptr,
          .value_vectors = b.value_vectors.count,
          .copies_k = !b.k.is_plain() || b.k_rotation.cos != nullptr,
          .copies_v = !b.v.is_plain(),
          .rounded = b.rounded != nullptr};
}

std::int64_t attention_block_scratch(const ScratchShape& needs) noexcept {
  return divide(needs, nullptr).size;
}

NonfiniteRows attention_block(const AttentionBlock& block, float* scratch) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  NonfiniteRows rows;
  std::fill(std::begin(rows.bits), std::end(rows.bits), ~std::uint64_t{0});
  rows = HWY_DYNAMIC_DISPATCH(attention_block)(block, false, rows, scratch);
  const bool any = std::any_of(std::begin(rows.bits), std::end(rows.bits),
                               [](std::uint64_t bits) { return bits != 0; });
  if (any) rows = HWY_DYNAMIC_DISPATCH(attention_block)(block, true, rows, scratch);
  return rows;
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
