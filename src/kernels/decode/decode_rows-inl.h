// Rows of the decode kernel on their way in, queries, and out, results. Included again for each
// instruction set.
#if defined(SEXTANT_KERNELS_DECODE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_DECODE_ROWS_INL_H_
#undef SEXTANT_KERNELS_DECODE_ROWS_INL_H_
#else
#define SEXTANT_KERNELS_DECODE_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kernels/attention/long_sums-inl.h"
#include "kernels/decode/decode_scratch.h"
#include "kernels/layers/log_sums-inl.h"
#include "kernels/simd/pack-inl.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Queries scaled and rotated; the initial maxima and sums.
HWY_INLINE void start(const DecodeBlock& b, const SharedScratch& s) {
  const std::int64_t channels = padded_width(b.head_dim);
  const int rows = padded_rows(b.count);
  std::fill_n(s.q, rows * channels, 0.0F);
  for (float* part : s.o.parts()) {
    if (part != nullptr) std::fill_n(part, rows * padded_width(b.v_dim), 0.0F);
  }
  for (float* part : {s.running_max, s.sum.chain, s.sum.spans, s.sum.low}) {
    std::fill_n(part, kQueryBlock, 0.0F);
  }
  for (int row = 0; row < b.count; ++row) {
    const DecodeRow& r = b.rows[row];
    const bool has_sink = r.sink > -std::numeric_limits<float>::infinity();
    s.running_max[row] = has_sink ? r.sink : std::numeric_limits<float>::lowest();
    s.sum.spans[row] = has_sink ? 1.0F : 0.0F;
    load_rows({r.q, 0, b.q_stride, b.q_storage}, 0, 1, b.head_dim, s.line);
    if (r.rotation.cos != nullptr) rotate_rows(s.line, b.head_dim, 1, r.rotation);
    const int tile = row / kTileRows, width = rows_of_tile(b.count, tile);
    float* to = s.q + tile * kTileRows * channels + row % kTileRows;
    for (std::int64_t c = 0; c < b.head_dim; ++c) to[c * width] = s.line[c] * b.numbers.scale;
  }
}

// O / l in place; whether all of it is finite.
HWY_INLINE bool normalize(const DecodeBlock& b, const SharedScratch& s, int row) {
  const TileTag d;
  const auto zero = hn::Zero(d);
  const float sum = s.sum.chain[row];
  const auto inverse = hn::Set(d, sum == 0 ? 0.0F : 1.0F / sum);
  auto nan_probe = hn::Mul(zero, hn::Set(d, sum + s.running_max[row]));  // 0 or NaN
  float* o = s.o.chain + row * padded_width(b.v_dim);
  for (std::int64_t c = 0; c < padded_width(b.v_dim); c += kSimdWidth) {
    const auto value = hn::MulAdd(hn::LoadU(d, o + c), inverse, zero);  // no -0
    nan_probe = hn::MulAdd(value, zero, nan_probe);
    hn::StoreU(value, d, o + c);
  }
  return hn::AllTrue(d, hn::Eq(nan_probe, zero));
}

// All rows' O, and l.
HWY_INLINE SumRows outputs_of(const DecodeBlock& b) {
  return {1, 0, padded_rows(b.count) * padded_width(b.v_dim)};
}
constexpr SumRows kSumsOfRows{1, 0, kDecodeRows};

// Ends the sums; writes the `wanted` rows; returns those that are not finite, which are written
// only if `nan_safe`.
HWY_INLINE std::uint32_t finish(const DecodeBlock& b, const SharedScratch& s, bool nan_safe,
                                std::uint32_t wanted) {
  finish_sum(s.sum, kSumsOfRows);
  finish_sum(s.o, outputs_of(b));
  std::uint32_t nonfinite = 0;
  alignas(64) float logs[kQueryBlock];
  if (b.rows[0].log_sum_exp != nullptr)
    log_sums(s.running_max, s.sum.chain, b.count, logs);  // of all rows or none
  for (int row = 0; row < b.count; ++row) {
    if ((wanted >> row & 1) == 0) continue;
    if (!normalize(b, s, row)) {
      nonfinite |= std::uint32_t{1} << row;
      if (!nan_safe) continue;
    }
    const DecodeRow& r = b.rows[row];
    const float* from = s.o.chain + row * padded_width(b.v_dim);
    switch (b.out_storage) {
      case Storage::float32:
        store_row(from, b.v_dim, static_cast<float*>(r.out), b.out_stride);
        break;
      case Storage::float16:
        store_row(from, b.v_dim, static_cast<float16*>(r.out), b.out_stride);
        break;
      case Storage::bfloat16:
        store_row(from, b.v_dim, static_cast<bfloat16*>(r.out), b.out_stride);
        break;
      case Storage::int8:
        break;
    }
    if (r.log_sum_exp != nullptr) *r.log_sum_exp = logs[row];
  }
  return nonfinite;
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
