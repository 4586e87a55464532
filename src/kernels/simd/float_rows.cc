// Rows of float32 tables, four at a time and with non-temporal stores where that is faster.
#include "kernels/simd/float_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/float_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/sines/angle_addition-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

#if HWY_HAVE_FLOAT64
using F = hn::Rebind<float, D>;

// The values of one vector of columns of one anchor; updates the smallest magnitude.
HWY_INLINE V next_value(D d, const double* anchor, std::size_t columns, std::size_t i, V sin_b,
                        V cos_b, V guard, V& smallest) {
  const V v = value(hn::Load(d, anchor + i), hn::Load(d, anchor + columns + i), sin_b, cos_b);
  smallest = smaller(d, smallest, v, guard);
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
                                         CancellationTest cancellation, float* out,
                                         std::int64_t step, std::size_t width,
                                         std::size_t columns) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const double* a0 = anchors;
  const double* a1 = a0 + 2 * columns;
  const double* a2 = a1 + 2 * columns;
  const double* a3 = a2 + 2 * columns;
  float* out1 = out + step;
  float* out2 = out1 + step;
  float* out3 = out2 + step;
  V smallest0 = hn::Set(d, kGuard);
  V smallest1 = smallest0;
  V smallest2 = smallest0;
  V smallest3 = smallest0;
  for (std::size_t i = 0; i < width; i += 2 * lanes) {
    const std::size_t j = i + lanes;
    const V s = hn::Load(d, b + i);
    const V s_next = hn::Load(d, b + j);
    const V c = hn::Load(d, b + columns + i);
    const V c_next = hn::Load(d, b + columns + j);
    const V g = hn::Load(d, cancellation.guard + i);
    const V g_next = hn::Load(d, cancellation.guard + j);
    const V v0 = next_value(d, a0, columns, i, s, c, g, smallest0);
    stream_pair(v0, next_value(d, a0, columns, j, s_next, c_next, g_next, smallest0), out + i);
    const V v1 = next_value(d, a1, columns, i, s, c, g, smallest1);
    stream_pair(v1, next_value(d, a1, columns, j, s_next, c_next, g_next, smallest1), out1 + i);
    const V v2 = next_value(d, a2, columns, i, s, c, g, smallest2);
    stream_pair(v2, next_value(d, a2, columns, j, s_next, c_next, g_next, smallest2), out2 + i);
    const V v3 = next_value(d, a3, columns, i, s, c, g, smallest3);
    stream_pair(v3, next_value(d, a3, columns, j, s_next, c_next, g_next, smallest3), out3 + i);
  }
  const V smallest = hn::Min(hn::Min(smallest0, smallest1), hn::Min(smallest2, smallest3));
  if (!any_below(d, smallest, cancellation.threshold)) return 0;
  unsigned found = any_below(d, smallest0, cancellation.threshold) ? 1 : 0;
  if (any_below(d, smallest1, cancellation.threshold)) found |= 2;
  if (any_below(d, smallest2, cancellation.threshold)) found |= 4;
  if (any_below(d, smallest3, cancellation.threshold)) found |= 8;
  return static_cast<std::uint8_t>(found);
}

// One row of any width.
HWY_INLINE bool put_row(const double* anchor, const double* b, CancellationTest cancellation,
                        float* out, std::size_t width, std::size_t columns) {
  const D d;
  const F half;
  const std::size_t lanes = hn::Lanes(d);
  V smallest = hn::Set(d, kGuard);
  HWY_ALIGN float last[kColumnPadding];
  for (std::size_t i = 0; i < width; i += lanes) {
    const auto v = hn::DemoteTo(
        half, next_value(d, anchor, columns, i, hn::Load(d, b + i), hn::Load(d, b + columns + i),
                         hn::Load(d, cancellation.guard + i), smallest));
    if (i + lanes <= width) {
      hn::StoreU(v, half, out + i);
    } else {
      hn::StoreU(v, half, last);
      std::copy_n(last, width - i, out + i);
    }
  }
  return any_below(d, smallest, cancellation.threshold);
}

void float_sines_of_sums(const double* anchors, int anchor_count, const double* b, int b_begin,
                         int b_end, CancellationTest cancellation, const FloatRows& rows,
                         std::size_t columns, std::uint8_t* cancelled) {
  const bool stream = rows.stream && anchor_count == 4 && rows.width % (2 * hn::Lanes(D())) == 0;
  for (int i = b_begin; i < b_end; ++i) {
    const double* by = b + static_cast<std::size_t>(i) * 2 * columns;
    float* out = rows.out + (i - b_begin) * rows.row_stride;
    const std::int64_t step = rows.anchor_step * rows.row_stride;
    if (stream) {
      cancelled[i - b_begin] =
          stream_four_rows(anchors, by, cancellation, out, step, rows.width, columns);
      continue;
    }
    unsigned found = 0;
    for (int r = 0; r < anchor_count; ++r) {
      const double* anchor = anchors + static_cast<std::size_t>(r) * 2 * columns;
      if (put_row(anchor, by, cancellation, out + r * step, rows.width, columns)) found |= 1U << r;
    }
    cancelled[i - b_begin] = static_cast<std::uint8_t>(found);
  }
}

void scaled_floats(const double* values, const double* factors, std::size_t count, float* to) {
  const D d;
  const F half;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const V product = hn::Mul(hn::LoadU(d, values + i), hn::LoadU(d, factors + i));
    hn::StoreU(hn::DemoteTo(half, product), half, to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<float>(values[i] * factors[i]);
}

#else  // no doubles in vectors: the same sums one at a time

void float_sines_of_sums(const double* anchors, int anchor_count, const double* b, int b_begin,
                         int b_end, CancellationTest cancellation, const FloatRows& rows,
                         std::size_t columns, std::uint8_t* cancelled) {
  for (int i = b_begin; i < b_end; ++i) {
    const double* by = b + static_cast<std::size_t>(i) * 2 * columns;
    unsigned found = 0;
    for (int r = 0; r < anchor_count; ++r) {
      const double* anchor = anchors + static_cast<std::size_t>(r) * 2 * columns;
      float* out = rows.out + (r * rows.anchor_step + i - b_begin) * rows.row_stride;
      for (std::size_t j = 0; j < rows.width; ++j) {
        const double v = anchor[j] * by[columns + j] + anchor[columns + j] * by[j];
        if (cancellation.guard[j] == 0 && std::fabs(v) < cancellation.threshold) found |= 1U << r;
        out[j] = static_cast<float>(v);
      }
    }
    cancelled[i - b_begin] = static_cast<std::uint8_t>(found);
  }
}

void scaled_floats(const double* values, const double* factors, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(values[i] * factors[i]);
}

#endif

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(float_sines_of_sums);
HWY_EXPORT(scaled_floats);

void scaled_floats(const double* values, const double* factors, std::size_t count,
                   float* to) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(scaled_floats)(values, factors, count, to);
}

void float_sines_of_sums(const double* anchors, int anchor_count, const double* b, int b_begin,
                         int b_end, CancellationTest cancellation, const FloatRows& rows,
                         std::size_t columns, std::uint8_t* cancelled) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(float_sines_of_sums)
  (anchors, anchor_count, b, b_begin, b_end, cancellation, rows, columns, cancelled);
}

void finish_streaming() noexcept { hwy::FlushStream(); }

}  // namespace sextant::kernels
#endif  // HWY_ONCE
