// Rows of float32 tables, four at a time and past the caches where it pays.
#include "kernels/simd/float_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/float_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/sines/turn_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

#if HWY_HAVE_FLOAT64
using F = hn::Rebind<float, D>;

// The value of one vector of columns of one anchor, and what it says about the smallest.
HWY_INLINE V next_value(D d, const double* anchor, std::size_t columns, std::size_t i, V sin_b,
                        V cos_b, V guard, V& least) {
  const V v = value(hn::Load(d, anchor + i), hn::Load(d, anchor + columns + i), sin_b, cos_b);
  least = smaller(d, least, v, guard);
  return v;
}

// Whole vectors of floats: streaming half ones writes beyond them in Highway 1.0.3.
HWY_INLINE void stream_pair(V low, V high, float* out) {
  const F half;
  const hn::ScalableTag<float> whole;
  hn::Stream(hn::Combine(whole, hn::DemoteTo(half, high), hn::DemoteTo(half, low)), whole, out);
}

// Four anchors share every load of b and of the guard, and write four rows side by side from left
// to right, past the caches. `width` is a multiple of two vectors of doubles.
HWY_INLINE std::uint8_t stream_four_rows(const double* anchors, const double* b,
                                         Suspicion suspicion, float* out, std::int64_t step,
                                         std::size_t width, std::size_t columns) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const double* a0 = anchors;
  const double* a1 = a0 + 2 * columns;
  const double* a2 = a1 + 2 * columns;
  const double* a3 = a2 + 2 * columns;
  float* out1 = out + step;
  float* out2 = out1 + step;
  float* out3 = out2 + step;
  V least0 = hn::Set(d, kGuard);
  V least1 = least0;
  V least2 = least0;
  V least3 = least0;
  for (std::size_t i = 0; i < width; i += 2 * lanes) {
    const std::size_t j = i + lanes;
    const V s = hn::Load(d, b + i);
    const V s_next = hn::Load(d, b + j);
    const V c = hn::Load(d, b + columns + i);
    const V c_next = hn::Load(d, b + columns + j);
    const V g = hn::Load(d, suspicion.guard + i);
    const V g_next = hn::Load(d, suspicion.guard + j);
    const V v0 = next_value(d, a0, columns, i, s, c, g, least0);
    stream_pair(v0, next_value(d, a0, columns, j, s_next, c_next, g_next, least0), out + i);
    const V v1 = next_value(d, a1, columns, i, s, c, g, least1);
    stream_pair(v1, next_value(d, a1, columns, j, s_next, c_next, g_next, least1), out1 + i);
    const V v2 = next_value(d, a2, columns, i, s, c, g, least2);
    stream_pair(v2, next_value(d, a2, columns, j, s_next, c_next, g_next, least2), out2 + i);
    const V v3 = next_value(d, a3, columns, i, s, c, g, least3);
    stream_pair(v3, next_value(d, a3, columns, j, s_next, c_next, g_next, least3), out3 + i);
  }
  const V least = hn::Min(hn::Min(least0, least1), hn::Min(least2, least3));
  if (!any_below(d, least, suspicion.threshold)) return 0;
  unsigned found = any_below(d, least0, suspicion.threshold) ? 1 : 0;
  if (any_below(d, least1, suspicion.threshold)) found |= 2;
  if (any_below(d, least2, suspicion.threshold)) found |= 4;
  if (any_below(d, least3, suspicion.threshold)) found |= 8;
  return static_cast<std::uint8_t>(found);
}

// One row of any width.
HWY_INLINE bool put_row(const double* anchor, const double* b, Suspicion suspicion, float* out,
                        std::size_t width, std::size_t columns) {
  const D d;
  const F half;
  const std::size_t lanes = hn::Lanes(d);
  V least = hn::Set(d, kGuard);
  HWY_ALIGN float last[kColumnPadding];
  for (std::size_t i = 0; i < width; i += lanes) {
    const auto v = hn::DemoteTo(
        half, next_value(d, anchor, columns, i, hn::Load(d, b + i), hn::Load(d, b + columns + i),
                         hn::Load(d, suspicion.guard + i), least));
    if (i + lanes <= width) {
      hn::StoreU(v, half, out + i);
    } else {
      hn::StoreU(v, half, last);
      std::copy_n(last, width - i, out + i);
    }
  }
  return any_below(d, least, suspicion.threshold);
}

void turn_to_floats(const double* anchors, int anchor_count, const double* b, int b_begin,
                    int b_end, Suspicion suspicion, const FloatRows& rows, std::size_t columns,
                    std::uint8_t* suspicious) {
  const bool stream = rows.stream && anchor_count == 4 && rows.width % (2 * hn::Lanes(D())) == 0;
  for (int i = b_begin; i < b_end; ++i) {
    const double* by = b + static_cast<std::size_t>(i) * 2 * columns;
    float* out = rows.out + (i - b_begin) * rows.row_stride;
    const std::int64_t step = rows.anchor_step * rows.row_stride;
    if (stream) {
      suspicious[i - b_begin] =
          stream_four_rows(anchors, by, suspicion, out, step, rows.width, columns);
      continue;
    }
    unsigned found = 0;
    for (int r = 0; r < anchor_count; ++r) {
      const double* anchor = anchors + static_cast<std::size_t>(r) * 2 * columns;
      if (put_row(anchor, by, suspicion, out + r * step, rows.width, columns)) found |= 1U << r;
    }
    suspicious[i - b_begin] = static_cast<std::uint8_t>(found);
  }
}

#else  // no doubles in vectors: the same sums one at a time

void turn_to_floats(const double* anchors, int anchor_count, const double* b, int b_begin,
                    int b_end, Suspicion suspicion, const FloatRows& rows, std::size_t columns,
                    std::uint8_t* suspicious) {
  for (int i = b_begin; i < b_end; ++i) {
    const double* by = b + static_cast<std::size_t>(i) * 2 * columns;
    unsigned found = 0;
    for (int r = 0; r < anchor_count; ++r) {
      const double* anchor = anchors + static_cast<std::size_t>(r) * 2 * columns;
      float* out = rows.out + (r * rows.anchor_step + i - b_begin) * rows.row_stride;
      for (std::size_t j = 0; j < rows.width; ++j) {
        const double v = anchor[j] * by[columns + j] + anchor[columns + j] * by[j];
        if (suspicion.guard[j] == 0 && std::fabs(v) < suspicion.threshold) found |= 1U << r;
        out[j] = static_cast<float>(v);
      }
    }
    suspicious[i - b_begin] = static_cast<std::uint8_t>(found);
  }
}

#endif

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(turn_to_floats);

void turn_to_floats(const double* anchors, int anchor_count, const double* b, int b_begin,
                    int b_end, Suspicion suspicion, const FloatRows& rows, std::size_t columns,
                    std::uint8_t* suspicious) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(turn_to_floats)
  (anchors, anchor_count, b, b_begin, b_end, suspicion, rows, columns, suspicious);
}

void finish_streaming() noexcept { hwy::FlushStream(); }

}  // namespace sextant::kernels
#endif  // HWY_ONCE
