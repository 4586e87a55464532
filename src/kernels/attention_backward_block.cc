// The backward kernel, queries in lanes like the forward one (Dao 2023, 2307.08691, algorithm 2,
// transposed). With dO' = dO / l, so that P needs no division:
//
//   for each block of 64 keys:  for each 64 of up to 128 queries:
//     S[key][query]  = K Q^T              tiles (tile-inl.h)
//     dP[key][query] = V dO'^T
//     P = 2^(S - m), dS = P (dP - delta)  in place
//     dV[key] += P dO',  dK[key] += dS Q  tiles whose lanes are channels
//     dQ[channel][query] += K^T dS
//   dq = scale dQ, turned back
//
// Five products of the same size, nothing computed twice, and nothing packed but 64 rows of Q, O'
// and dO' at a time.
#include "kernels/attention_backward_block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attention_pieces.h"
#include "kernels/processor_state.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_backward_block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/attention_backward-inl.h"
#include "kernels/pack-inl.h"
#include "kernels/tile-inl.h"

#ifndef SEXTANT_KERNELS_ATTENTION_BACKWARD_BLOCK_ONCE_
#define SEXTANT_KERNELS_ATTENTION_BACKWARD_BLOCK_ONCE_
namespace sextant {
namespace {

// Log-sum-exps beyond this are summed again: half a unit in the last place of float32 is more there
// than scores are off by, and every probability of a row would be off by it.
constexpr float kLargestLogSum = 32.0F;

constexpr float kNever = std::numeric_limits<float>::max();  // a maximum that makes all weights 0

// Parts of the scratch, each on a cache line. L: queries, rounded up to blocks of 64 lanes.
struct Scratch {
  float *q, *dout, *dq;         // [L / 64][channels][64]
  float *q_rows, *dout_rows;    // [L][padded_width(channels)]
  float *most, *sum, *delta;    // [L]
  float* scores;                // [64][64]
  float *gradients, *uncapped;  // [64][gradient_row], at lane 0; uncapped may be null
  std::ptrdiff_t gradient_row;
  float* bias;            // [64][64] or null
  float* rows;            // [64][padded_width(the wider)]
  float *out_rows, *out;  // [64][padded_width(v_dim)], [v_dim][64]
  float *k, *v;           // [64][channels], or null: read where they are
  std::int64_t size;
};

Scratch divide(const BackwardBlock& b, float* memory) {
  const std::int64_t lanes = (b.queries + kBlockLanes - 1) / kBlockLanes * kBlockLanes;
  std::int64_t used = 0;
  const auto take = [&](std::int64_t floats) {
    float* part = memory == nullptr ? nullptr : memory + used;
    used += (floats + 15) / 16 * 16;
    return part;
  };
  Scratch s{};
  s.q = take(lanes * b.head_dim);
  s.dout = take(lanes * b.v_dim);
  s.dq = take(lanes * b.head_dim);
  s.q_rows = take(lanes * padded_width(b.head_dim));
  s.dout_rows = take(lanes * padded_width(b.v_dim));
  s.most = take(lanes);
  s.sum = take(lanes);
  s.delta = take(lanes);
  s.scores = take(kBackwardKeys * kBlockLanes);
  // Zeros beside the lanes, for sums along diagonals.
  const std::int64_t margin = b.wants_line_gradient ? kGroupLanes : 0;
  s.gradient_row = kBlockLanes + 2 * margin;
  const auto take_gradients = [&] {
    float* part = take(kBackwardKeys * s.gradient_row);
    return part == nullptr ? nullptr : part + margin;
  };
  s.gradients = take_gradients();
  const bool keeps_uncapped =
      b.softcap > 0 && (b.wants_line_gradient || b.gradient_tiles.take != nullptr);
  s.uncapped = keeps_uncapped ? take_gradients() : nullptr;
  s.bias = b.tiles.fill != nullptr ? take(kBackwardKeys * kBlockLanes) : nullptr;
  s.rows = take(kBlockLanes * padded_width(std::max(b.head_dim, b.v_dim)));
  s.out_rows = take(kBlockLanes * padded_width(b.v_dim));
  s.out = take(kBlockLanes * b.v_dim);
  const bool copies_k = !b.k.is_plain() || b.k_rotation.cos != nullptr;
  s.k = copies_k ? take(kBackwardKeys * b.head_dim) : nullptr;
  s.v = !b.v.is_plain() ? take(kBackwardKeys * b.v_dim) : nullptr;
  s.size = used;
  return s;
}

}  // namespace
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// 64 lanes at work.
struct BackwardLanes {
  float *q, *dout, *dq, *q_rows, *dout_rows, *most, *sum, *delta;
  const std::int32_t *first, *last;  // [64]
  GroupRanges ranges;
  std::int64_t first_query, queries;
  bool knows_sums;  // that the caller's log-sum-exps will do
};

// A block of keys: rows of k and v from `begin` on.
struct KeyBlock {
  std::int64_t begin, end;
  const float *k, *v;
  std::int64_t k_stride, v_stride;
};

HWY_INLINE void turn_part(RotationRows turn, std::int64_t first, std::int64_t count, bool back,
                          float* rows, std::int64_t stride) {
  if (turn.cos == nullptr) return;
  turn.cos += first * turn.stride;
  turn.sin += first * turn.stride;
  turn.inverse = back;
  rotate_rows(rows, stride, count, turn);
}

// Rows [first, first + count) with zeros up to the padded width; `tight` is room for as many.
HWY_INLINE void load_padded(const StoredRows& from, std::int64_t first, std::int64_t count,
                            std::int64_t width, float* tight, float* to) {
  const std::int64_t padded = padded_width(width);
  if (padded == width) return load_rows(from, first, count, width, to);
  load_rows(from, first, count, width, tight);
  std::fill_n(to, count * padded, 0.0F);
  for (std::int64_t i = 0; i < count; ++i) std::copy_n(tight + i * width, width, to + i * padded);
}

HWY_INLINE void load_lanes(const float* rows, std::int64_t count, std::int64_t width, float factor,
                           float* lanes) {
  if (count < kBlockLanes) std::fill_n(lanes, width * kBlockLanes, 0.0F);
  transpose_scaled(rows, padded_width(width), count, width, factor, lanes, kBlockLanes);
}

// What the products of one piece have in common.
HWY_INLINE PieceOperands operands(const BackwardBlock& b, const Scratch& scratch,
                                  const BackwardLanes& lanes, const KeyBlock& keys,
                                  const Piece& piece) {
  const std::int64_t row = piece.first_key - keys.begin;
  PieceOperands o{};
  o.piece = piece;
  o.softcap = b.softcap;
  if (b.line != nullptr) {
    o.bias = b.line + lanes.first_query - piece.first_key;
    o.bias_row = -1;
  } else if (scratch.bias != nullptr) {
    o.bias = scratch.bias + row * kBlockLanes;
    o.bias_row = kBlockLanes;
  }
  o.first = lanes.first;
  o.last = lanes.last;
  o.most = lanes.most;
  o.sum = lanes.sum;
  o.delta = lanes.delta;
  o.scores = scratch.scores + row * kBlockLanes;
  o.gradient_row = scratch.gradient_row;
  o.gradients = scratch.gradients + row * o.gradient_row;
  o.uncapped = scratch.uncapped == nullptr ? nullptr : scratch.uncapped + row * o.gradient_row;
  return o;
}

HWY_INLINE void fill_biases(const BackwardBlock& b, const Scratch& scratch,
                            const BackwardLanes& lanes, const KeyBlock& keys) {
  if (b.tiles.fill == nullptr) return;
  b.tiles.fill(b.tiles.context, lanes.first_query, lanes.queries, keys.begin, keys.end - keys.begin,
               scratch.bias);
}

// c[key][lane] = <row of keys, lane>.
HWY_INLINE void rows_by_lanes(const PieceOperands& o, const float* rows, std::int64_t stride,
                              std::int64_t width, const float* lanes, float* c,
                              std::ptrdiff_t c_row) {
  const std::int64_t lane = o.piece.first_group * kGroupLanes;
  product<TileMode::store>(o.piece.last_key - o.piece.first_key, o.piece.groups,
                           {.a = rows,
                            .a_row = stride,
                            .a_step = 1,
                            .b = lanes + lane,
                            .b_step = kBlockLanes,
                            .c = c + lane,
                            .c_row = c_row,
                            .steps = width});
}

// sums[key] += sum over lanes of weights[key][lane] rows[lane].
HWY_INLINE void add_to_keys(const PieceOperands& o, const float* weights, std::ptrdiff_t row,
                            const float* rows, std::int64_t width, float* sums) {
  if (sums == nullptr) return;
  const std::int64_t lane = o.piece.first_group * kGroupLanes, padded = padded_width(width);
  product<TileMode::add>(o.piece.last_key - o.piece.first_key, padded / kGroupLanes,
                         {.a = weights + lane,
                          .a_row = row,
                          .a_step = 1,
                          .b = rows + lane * padded,
                          .b_step = padded,
                          .c = sums + o.piece.first_key * padded,
                          .c_row = padded,
                          .steps = o.piece.groups * kGroupLanes});
}

// Gives the gradients of a piece's scores to those of its biases.
HWY_INLINE void hand_out(const BackwardBlock& b, const BackwardLanes& lanes,
                         const PieceOperands& o) {
  float* tile = o.uncapped != nullptr ? o.uncapped : o.gradients;
  const std::int64_t keys = o.piece.last_key - o.piece.first_key;
  const std::int64_t lane = o.piece.first_group * kGroupLanes;
  const std::int64_t end = lane + o.piece.groups * kGroupLanes;
  if (b.gradient_tiles.take != nullptr && lane < lanes.queries) {
    b.gradient_tiles.take(b.gradient_tiles.context, lanes.first_query + lane,
                          std::min(end, lanes.queries) - lane, o.piece.first_key, keys, tile + lane,
                          o.gradient_row);
  }
  if (!b.wants_line_gradient) return;
  if (o.piece.groups < kGroups) {
    for (std::int64_t j = 0; j < keys; ++j) {
      std::fill_n(tile + j * o.gradient_row, lane, 0.0F);
      std::fill_n(tile + j * o.gradient_row + end, kBlockLanes - end, 0.0F);
    }
  }
  add_diagonals(tile, o.gradient_row, keys,
                b.line_gradient + lanes.first_query - o.piece.first_key);
}

// One block of keys for 64 lanes; returns whether all was finite.
HWY_INLINE bool propagate(const BackwardBlock& b, const Scratch& scratch,
                          const BackwardLanes& lanes, const KeyBlock& keys) {
  const Pieces pieces = cut(lanes.ranges, keys.begin, keys.end);
  if (pieces.count == 0) return true;
  fill_biases(b, scratch, lanes, keys);
  bool finite = true;
  for (const Piece& piece : pieces) {
    const PieceOperands o = operands(b, scratch, lanes, keys, piece);
    const std::int64_t row = piece.first_key - keys.begin;
    const std::int64_t lane = piece.first_group * kGroupLanes;
    const float* k = keys.k + row * keys.k_stride;
    rows_by_lanes(o, k, keys.k_stride, b.head_dim, lanes.q, o.scores, kBlockLanes);
    rows_by_lanes(o, keys.v + row * keys.v_stride, keys.v_stride, b.v_dim, lanes.dout, o.gradients,
                  o.gradient_row);
    finite &= with_kinds(o, [&](auto cap, auto bias, auto edge) {
      return weigh<decltype(cap)::value, decltype(bias)::value, decltype(edge)::value>(o);
    });
    add_to_keys(o, o.scores, kBlockLanes, lanes.dout_rows, b.v_dim, b.dv);
    add_to_keys(o, o.gradients, o.gradient_row, lanes.q_rows, b.head_dim, b.dk);
    if (b.dq.data != nullptr) {
      product<TileMode::add>(b.head_dim, piece.groups,
                             {.a = k,
                              .a_row = 1,
                              .a_step = keys.k_stride,
                              .b = o.gradients + lane,
                              .b_step = o.gradient_row,
                              .c = lanes.dq + lane,
                              .c_row = kBlockLanes,
                              .steps = piece.last_key - piece.first_key});
    }
    hand_out(b, lanes, o);
  }
  return finite;
}

// The same block's part of the sums of weights.
HWY_INLINE void sum_block(const BackwardBlock& b, const Scratch& scratch,
                          const BackwardLanes& lanes, const KeyBlock& keys) {
  const Pieces pieces = cut(lanes.ranges, keys.begin, keys.end);
  if (pieces.count == 0) return;
  fill_biases(b, scratch, lanes, keys);
  for (const Piece& piece : pieces) {
    const PieceOperands o = operands(b, scratch, lanes, keys, piece);
    rows_by_lanes(o, keys.k + (piece.first_key - keys.begin) * keys.k_stride, keys.k_stride,
                  b.head_dim, lanes.q, o.scores, kBlockLanes);
    with_kinds(o, [&](auto cap, auto bias, auto edge) {
      sum_weights<decltype(cap)::value, decltype(bias)::value, decltype(edge)::value>(o);
    });
  }
}

// Runs use(block of keys) over all that the task sees.
template <class Use>
HWY_INLINE void for_each_key_block(const BackwardBlock& b, const Scratch& scratch, bool with_v,
                                   const Use& use) {
  const std::int64_t end = b.last[b.queries - 1];
  for (std::int64_t key = b.first[0] / kBackwardKeys * kBackwardKeys; key < end;
       key += kBackwardKeys) {
    const std::int64_t count = std::min<std::int64_t>(kBackwardKeys, end - key);
    KeyBlock keys{key, key + count, scratch.k, scratch.v, b.head_dim, b.v_dim};
    if (scratch.k == nullptr) {
      keys.k = static_cast<const float*>(b.k.data) + key * b.k.row_stride;
      keys.k_stride = b.k.row_stride;
    } else {
      load_rows(b.k, key, count, b.head_dim, scratch.k);
      turn_part(b.k_rotation, key, count, false, scratch.k, b.head_dim);
    }
    if (scratch.v == nullptr) {
      keys.v = static_cast<const float*>(b.v.data) + key * b.v.row_stride;
      keys.v_stride = b.v.row_stride;
    } else if (with_v) {
      load_rows(b.v, key, count, b.v_dim, scratch.v);
    }
    use(keys);
  }
}

HWY_INLINE bool knows_sums(const BackwardBlock& b, std::int64_t first, std::int64_t count) {
  if (b.log_sum_exp == nullptr) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = b.log_sum_exp[(first + i) * b.log_sum_exp_stride];
    if (sum != -std::numeric_limits<float>::infinity() && !(std::fabs(sum) <= kLargestLogSum)) {
      return false;
    }
  }
  return true;
}

// Sums of weights to factors of dO, by which every probability is 2^(s - most) times the factor.
HWY_INLINE void normalize(const BackwardBlock& b, const BackwardLanes& lanes) {
  for (std::int64_t i = 0; i < kBlockLanes; ++i) {
    float &most = lanes.most[i], &factor = lanes.sum[i];
    if (i >= lanes.queries) {
      factor = 0;
    } else if (!lanes.knows_sums) {
      factor = factor == 0 ? 0 : 1 / factor;
    } else {
      // In log2 units it is no float32; the rest goes into the factor.
      const double sum =
          static_cast<double>(b.log_sum_exp[(lanes.first_query + i) * b.log_sum_exp_stride]) *
          kLog2E;
      most = static_cast<float>(sum);
      factor = sum == -std::numeric_limits<double>::infinity()
                   ? 0
                   : static_cast<float>(std::exp2(static_cast<double>(most) - sum));
    }
    if (factor == 0) most = kNever;
  }
}

// dO times the factors, as rows and lanes; rows that see nothing become zeros.
HWY_INLINE void load_output_gradients(const BackwardBlock& b, const Scratch& scratch,
                                      const BackwardLanes& lanes) {
  const TileTag d;
  const std::int64_t padded = padded_width(b.v_dim), q_padded = padded_width(b.head_dim);
  load_padded(b.dout, lanes.first_query, lanes.queries, b.v_dim, scratch.rows, lanes.dout_rows);
  for (std::int64_t i = 0; i < kBlockLanes; ++i) {
    float* row = lanes.dout_rows + i * padded;
    if (lanes.sum[i] == 0) {
      std::fill_n(row, padded, 0.0F);
      std::fill_n(lanes.q_rows + i * q_padded, q_padded, 0.0F);
      for (std::int64_t c = 0; c < b.head_dim; ++c) lanes.q[c * kBlockLanes + i] = 0;
      continue;
    }
    const auto factor = hn::Set(d, lanes.sum[i]);
    for (std::int64_t c = 0; c < padded; c += kTileLanes) {
      hn::StoreU(hn::Mul(factor, hn::LoadU(d, row + c)), d, row + c);
    }
  }
  load_lanes(lanes.dout_rows, lanes.queries, b.v_dim, 1.0F, lanes.dout);
}

// delta = <out, dO'> by the chain of operations that makes dP, so that dP - delta is 0 where one
// key has all the weight.
HWY_INLINE void sum_outputs(const BackwardBlock& b, const Scratch& scratch,
                            const BackwardLanes& lanes) {
  const TileTag d;
  load_padded(b.out, lanes.first_query, lanes.queries, b.v_dim, scratch.rows, scratch.out_rows);
  load_lanes(scratch.out_rows, lanes.queries, b.v_dim, 1.0F, scratch.out);
  for (std::int64_t lane = 0; lane < kBlockLanes; lane += kTileLanes) {
    auto sum = hn::Zero(d);
    for (std::int64_t c = 0; c < b.v_dim; ++c) {
      const std::int64_t n = c * kBlockLanes + lane;
      sum = hn::MulAdd(hn::LoadU(d, scratch.out + n), hn::LoadU(d, lanes.dout + n), sum);
    }
    const auto nothing = hn::Eq(hn::LoadU(d, lanes.sum + lane), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(nothing, hn::Zero(d), sum), d, lanes.delta + lane);
  }
}

// dQ as rows, scaled and turned back; returns whether they are finite.
HWY_INLINE bool store_query_gradients(const BackwardBlock& b, const Scratch& scratch,
                                      const BackwardLanes& lanes) {
  const std::int64_t width = b.head_dim;
  float* rows = scratch.rows;
  transpose_scaled(lanes.dq, kBlockLanes, width, lanes.queries, b.natural_scale, rows, width);
  turn_part(b.q_rotation, lanes.first_query, lanes.queries, true, rows, width);
  float trace = 0;
  for (std::int64_t n = 0; n < lanes.queries * width; ++n) trace += rows[n] * 0.0F;
  const auto store = [&](auto* to) {
    using T = std::remove_reference_t<decltype(*to)>;
    to += lanes.first_query * b.dq.row_stride;
    for (std::int64_t i = 0; i < lanes.queries; ++i, to += b.dq.row_stride) {
      for (std::int64_t c = 0; c < width; ++c) to[c * b.dq.channel_stride] = T(rows[i * width + c]);
    }
  };
  switch (b.dq.storage) {
    case Storage::float32:
      store(static_cast<float*>(b.dq.data));
      break;
    case Storage::float16:
      store(static_cast<float16*>(b.dq.data));
      break;
    case Storage::bfloat16:
      store(static_cast<bfloat16*>(b.dq.data));
      break;
  }
  return trace == 0;
}

bool backward_block(const BackwardBlock& b, float* memory) {
  const Scratch scratch = divide(b, memory);
  const std::int64_t blocks = (b.queries + kBlockLanes - 1) / kBlockLanes;
  const bool has_sink = b.sink > -std::numeric_limits<float>::infinity();
  alignas(64) std::int32_t first[kBackwardQueries], last[kBackwardQueries];
  BackwardLanes lanes[kBackwardQueries / kBlockLanes];
  for (std::int64_t n = 0; n < blocks; ++n) {
    const std::int64_t lane = n * kBlockLanes;
    const std::int64_t count = std::min<std::int64_t>(kBlockLanes, b.queries - lane);
    // Lanes that are no query see what the last one sees.
    for (std::int64_t i = 0; i < kBlockLanes; ++i) {
      first[lane + i] = b.first[lane + std::min(i, count - 1)];
      last[lane + i] = b.last[lane + std::min(i, count - 1)];
    }
    lanes[n] = {scratch.q + lane * b.head_dim,
                scratch.dout + lane * b.v_dim,
                scratch.dq + lane * b.head_dim,
                scratch.q_rows + lane * padded_width(b.head_dim),
                scratch.dout_rows + lane * padded_width(b.v_dim),
                scratch.most + lane,
                scratch.sum + lane,
                scratch.delta + lane,
                first + lane,
                last + lane,
                group_ranges(b.first + lane, b.last + lane, count),
                lane,
                count,
                knows_sums(b, lane, count)};
    load_padded(b.q, lane, count, b.head_dim, scratch.rows, lanes[n].q_rows);
    turn_part(b.q_rotation, lane, count, false, lanes[n].q_rows, padded_width(b.head_dim));
    load_lanes(lanes[n].q_rows, count, b.head_dim, b.scale, lanes[n].q);
    std::fill_n(lanes[n].most, kBlockLanes,
                has_sink ? b.sink : std::numeric_limits<float>::lowest());
    std::fill_n(lanes[n].sum, kBlockLanes, has_sink ? 1.0F : 0.0F);
    std::fill_n(lanes[n].dq, b.head_dim * kBlockLanes, 0.0F);
  }
  const auto know = [](const BackwardLanes& block) { return block.knows_sums; };
  if (!std::all_of(lanes, lanes + blocks, know)) {
    for_each_key_block(b, scratch, false, [&](const KeyBlock& keys) HWY_ATTR {
      for (std::int64_t n = 0; n < blocks; ++n) {
        if (!lanes[n].knows_sums) sum_block(b, scratch, lanes[n], keys);
      }
    });
  }
  for (std::int64_t n = 0; n < blocks; ++n) {
    normalize(b, lanes[n]);
    load_output_gradients(b, scratch, lanes[n]);
    sum_outputs(b, scratch, lanes[n]);
  }
  if (b.wants_line_gradient) {
    for (float* tile : {scratch.gradients, scratch.uncapped}) {
      if (tile != nullptr) {
        std::fill_n(tile - kGroupLanes, kBackwardKeys * scratch.gradient_row, 0.0F);
      }
    }
  }

  bool finite = true;
  for_each_key_block(b, scratch, true, [&](const KeyBlock& keys) HWY_ATTR {
    if (b.turns.context != nullptr) b.turns.wait(b.turns.context, keys.begin);
    for (std::int64_t n = 0; n < blocks; ++n) finite &= propagate(b, scratch, lanes[n], keys);
    if (b.turns.context != nullptr) b.turns.done(b.turns.context, keys.end);
  });

  for (std::int64_t n = 0; n < blocks; ++n) {
    if (b.dq.data != nullptr) finite &= store_query_gradients(b, scratch, lanes[n]);
    if (b.sink_gradient == nullptr || !has_sink) continue;
    for (std::int64_t i = 0; i < lanes[n].queries; ++i) {
      const double share =
          std::exp2(static_cast<double>(b.sink) - static_cast<double>(lanes[n].most[i]));
      *b.sink_gradient -= share * static_cast<double>(lanes[n].delta[i]);
    }
  }
  return finite;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {

HWY_EXPORT(backward_block);

std::int64_t backward_block_scratch(const BackwardBlock& block) noexcept {
  return divide(block, nullptr).size;
}

bool backward_block(const BackwardBlock& block, float* scratch) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  return HWY_DYNAMIC_DISPATCH(backward_block)(block, scratch);
}

}  // namespace sextant
#endif  // HWY_ONCE
