// Rows of q, out and dout to lanes, and lanes of dq to rows. Included again for
// each instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_BACKWARD_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_BACKWARD_ROWS_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_BACKWARD_ROWS_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_BACKWARD_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/attention/backward_scratch.h"
#include "kernels/attention/long_sums-inl.h"
#include "kernels/attention/visible_rects.h"
#include "kernels/simd/pack-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Log-sum-exps beyond this are recomputed: half a unit in the last place of float32 exceeds the
// error of scores there, and would be the relative error of every probability of the row.
constexpr float kLargestLogSum = 32.0F;

constexpr float kNever = std::numeric_limits<float>::max();  // a maximum that makes all weights 0

// The state of 64 lanes.
struct BackwardLanes {
  float *q, *dout, *q_rows, *dout_rows, *running_max, *delta;
  float *vector_products, *vector_weights;  // [vectors by distance][64]
  LongSum dq, sum;                          // [head_dim][64], [64]
  const std::int32_t *key_begin, *key_end;  // [64]
  GroupRanges ranges;
  std::int64_t first_query, queries;
  bool has_log_sum_exp;   // the caller's log-sum-exps are accurate enough
  std::int64_t span = 0;  // of the last block that was added

  SumRows sum_rows() const { return {1, kQueryBlock, ranges.count * kQueryGroup}; }
  SumRows dq_rows(std::int64_t head_dim) const {
    return {head_dim, kQueryBlock, ranges.count * kQueryGroup};
  }
};

// Lanes of groups that hold a query: the others are not read.
HWY_INLINE std::int64_t used_lanes(std::int64_t queries) { return padded_width(queries); }

HWY_INLINE void rotate_range(RotationRows rotation, std::int64_t first, std::int64_t count,
                             bool back, float* rows, std::int64_t stride) {
  if (rotation.cos == nullptr) return;
  rotation.inverse = back;
  rotate_rows(rows, stride, count, rotation.from(first));
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
  clear_rest(width, count, lanes);
  transpose_scaled(rows, padded_width(width), count, width, factor, lanes, kQueryBlock);
}

HWY_INLINE bool has_log_sum_exp(const BackwardBlock& b, std::int64_t first, std::int64_t count) {
  if (b.log_sum_exp == nullptr) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = b.log_sum_exp[(first + i) * b.log_sum_exp_stride];
    if (sum != -std::numeric_limits<float>::infinity() && !(std::fabs(sum) <= kLargestLogSum)) {
      return false;
    }
  }
  return true;
}

// The caller's log-sum-exps as maxima in log2 units, which are no float32: the rest goes into the
// factor 2^rest. It is below 2^-18, so that the rest of the series is below half a unit of float64.
HWY_INLINE void normalize_known(const BackwardBlock& b, const BackwardLanes& lanes) {
  alignas(64) float logs[kQueryBlock];
  const float* from = b.log_sum_exp + lanes.first_query * b.log_sum_exp_stride;
  for (std::int64_t i = 0; i < lanes.queries; ++i) logs[i] = from[i * b.log_sum_exp_stride];
  std::fill(logs + lanes.queries, logs + kQueryBlock, -std::numeric_limits<float>::infinity());
#if HWY_HAVE_FLOAT64
  constexpr std::int64_t n = kSimdWidth / 2;
  const hn::FixedTag<float, n> d;
  const hn::FixedTag<double, n> wide;
  const auto one = hn::Set(wide, 1.0);
  for (std::int64_t i = 0; i < kQueryBlock; i += n) {
    const auto log = hn::LoadU(d, logs + i);
    const auto sees = hn::Gt(log, hn::Set(d, -std::numeric_limits<float>::infinity()));
    const auto sum = hn::Mul(hn::PromoteTo(wide, log), hn::Set(wide, kLog2E));
    const auto max = hn::DemoteTo(d, sum);
    const auto y = hn::Mul(hn::Sub(hn::PromoteTo(wide, max), sum), hn::Set(wide, kLn2));
    const auto series = hn::Add(one, hn::Mul(y, hn::Add(one, hn::Mul(y, hn::Set(wide, 0.5)))));
    hn::StoreU(hn::IfThenElse(sees, max, hn::Set(d, kNever)), d, lanes.running_max + i);
    hn::StoreU(hn::IfThenElseZero(sees, hn::DemoteTo(d, series)), d, lanes.sum.chain + i);
  }
#else
  for (std::int64_t i = 0; i < kQueryBlock; ++i) {
    const bool sees = logs[i] > -std::numeric_limits<float>::infinity();
    const double sum = static_cast<double>(logs[i]) * kLog2E;
    const float max = static_cast<float>(sum);
    const double y = (static_cast<double>(max) - sum) * kLn2;
    lanes.running_max[i] = sees ? max : kNever;
    lanes.sum.chain[i] = sees ? static_cast<float>(1 + y * (1 + y * 0.5)) : 0;
  }
#endif
}

// Sums of weights to factors of dO, by which every probability is 2^(s - max) times the factor.
HWY_INLINE void normalize(const BackwardBlock& b, const BackwardLanes& lanes) {
  if (lanes.has_log_sum_exp) return normalize_known(b, lanes);
  finish_sum(lanes.sum, lanes.sum_rows());
  for (std::int64_t i = 0; i < kQueryBlock; ++i) {
    float& factor = lanes.sum.chain[i];
    factor = i >= lanes.queries || factor == 0 ? 0 : 1 / factor;
    if (factor == 0) lanes.running_max[i] = kNever;
  }
}

// dO times the factors, as rows and lanes; rows that see nothing become zeros.
HWY_INLINE void load_output_gradients(const BackwardBlock& b, const BackwardScratch& scratch,
                                      const BackwardLanes& lanes) {
  const TileTag d;
  const std::int64_t padded = padded_width(b.v_dim), q_padded = padded_width(b.head_dim);
  load_padded(b.dout, lanes.first_query, lanes.queries, b.v_dim, scratch.rows, lanes.dout_rows);
  for (std::int64_t i = 0; i < used_lanes(lanes.queries); ++i) {
    float* row = lanes.dout_rows + i * padded;
    if (lanes.sum.chain[i] == 0) {
      std::fill_n(row, padded, 0.0F);
      std::fill_n(lanes.q_rows + i * q_padded, q_padded, 0.0F);
      if (i >= lanes.queries) continue;  // lanes without a query are zeros already
      for (std::int64_t c = 0; c < b.head_dim; ++c) lanes.q[c * kQueryBlock + i] = 0;
      continue;
    }
    const auto factor = hn::Set(d, lanes.sum.chain[i]);
    for (std::int64_t c = 0; c < padded; c += kSimdWidth) {
      hn::StoreU(hn::Mul(factor, hn::LoadU(d, row + c)), d, row + c);
    }
  }
  load_lanes(lanes.dout_rows, lanes.queries, b.v_dim, 1.0F, lanes.dout);
}

// delta = <out, dO'> by the chain of operations that makes dP, so that dP - delta is 0 where one
// key has all the weight.
HWY_INLINE void sum_outputs(const BackwardBlock& b, const BackwardScratch& scratch,
                            const BackwardLanes& lanes) {
  const TileTag d;
  load_padded(b.out, lanes.first_query, lanes.queries, b.v_dim, scratch.rows, scratch.out_rows);
  load_lanes(scratch.out_rows, lanes.queries, b.v_dim, 1.0F, scratch.out);
  for (std::int64_t lane = 0; lane < used_lanes(lanes.queries); lane += kSimdWidth) {
    auto sum = hn::Zero(d);
    for (std::int64_t c = 0; c < b.v_dim; ++c) {
      const std::int64_t n = c * kQueryBlock + lane;
      sum = hn::MulAdd(hn::LoadU(d, scratch.out + n), hn::LoadU(d, lanes.dout + n), sum);
    }
    const auto nothing = hn::Eq(hn::LoadU(d, lanes.sum.chain + lane), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(nothing, hn::Zero(d), sum), d, lanes.delta + lane);
  }
}

HWY_INLINE bool all_finite(const float* x, std::int64_t count) {
  const TileTag d;
  const auto zero = hn::Zero(d);
  auto nan_probe = zero;  // 0 or NaN
  std::int64_t i = 0;
  for (; i + kSimdWidth <= count; i += kSimdWidth) {
    nan_probe = hn::MulAdd(hn::LoadU(d, x + i), zero, nan_probe);
  }
  float rest = 0;
  for (; i < count; ++i) rest += x[i] * 0.0F;
  return rest == 0 && hn::AllTrue(d, hn::Eq(nan_probe, zero));
}

// rows[i * stride + c] += terms[i][c], each sum rounded once.
HWY_INLINE void add_terms(const double* terms, std::int64_t count, std::int64_t width, float* rows,
                          std::int64_t stride) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t c = 0; c < width; ++c) {
      float& to = rows[i * stride + c];
      to = static_cast<float>(static_cast<double>(to) + terms[i * width + c]);
    }
  }
}

// Writes rows of `stride` floats to their places, from row `first` on.
HWY_INLINE void write_rows(const float* rows, std::int64_t stride, std::int64_t count,
                           std::int64_t width, const StoredOutput& out, std::int64_t first) {
  const auto write = [&](auto* to) HWY_ATTR {
    to += first * out.row_stride;
    if (out.channel_stride != 1) {
      for (std::int64_t i = 0; i < count; ++i, to += out.row_stride) {
        store_row(rows + i * stride, width, to, out.channel_stride);
      }
      return;
    }
    with_width(width, [=, row_stride = out.row_stride](auto known) HWY_ATTR {
      for (std::int64_t i = 0; i < count; ++i) {
        prefetch_row(to, (i + kPrefetchRows) * row_stride, known);
        store_row(rows + i * stride, known, to + i * row_stride, 1);
      }
    });
  };
  switch (out.storage) {
    case Storage::float32:
      write(static_cast<float*>(out.data));
      break;
    case Storage::float16:
      write(static_cast<float16*>(out.data));
      break;
    case Storage::bfloat16:
      write(static_cast<bfloat16*>(out.data));
      break;
    case Storage::int8:
      break;
  }
}

// dQ as rows, scaled and rotated back; returns whether they are finite.
HWY_INLINE bool store_query_gradients(const BackwardBlock& b, const BackwardScratch& scratch,
                                      const BackwardLanes& lanes) {
  const std::int64_t width = b.head_dim;
  float* rows = scratch.rows;
  finish_sum(lanes.dq, lanes.dq_rows(width));
  transpose_scaled(lanes.dq.chain, kQueryBlock, width, lanes.queries, b.scale_base_e, rows, width);
  rotate_range(b.q_rotation, lanes.first_query, lanes.queries, true, rows, width);
  if (b.dq_terms != nullptr) {
    add_terms(b.dq_terms + lanes.first_query * width, lanes.queries, width, rows, width);
  }
  write_rows(rows, width, lanes.queries, width, b.dq, lanes.first_query);
  return all_finite(rows, lanes.queries * width);
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
