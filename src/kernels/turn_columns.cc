// Turning rows of sines and cosines. With position p = 64 a + b, sin(p t) = sin(64 a t) cos(b t) +
// cos(64 a t) sin(b t): two small tables of correctly rounded doubles give every value with one
// multiplication and one addition, no recurrence and so no drift. Error of such a sum near its
// zero, where both products have size 1/2 at most: four factors rounded by 2^-54 at most make
// 2^-52.5, the product 2^-55 (two of them without fused multiply-add): below 2^-52, which is 1e-4
// units in the last place of a float32 above 2^-15. Below that the caller looks closer; the doubles
// are good to 2^-100 there.
#include "kernels/turn_columns.h"

#include <algorithm>
#include <cmath>

#include "kernels/double_double.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/turn_columns.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

#if HWY_HAVE_FLOAT64
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using F = hn::Rebind<float, D>;

// a * b - product, exactly, where product = a * b rounded.
HWY_INLINE V product_error(D d, V a, V b, V product) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(a, b, product);
#else
  const V splitter = hn::Set(d, 134217729.0);  // Dekker's: 2^27 + 1
  const V a_scaled = hn::Mul(splitter, a);
  const V b_scaled = hn::Mul(splitter, b);
  const V a_hi = hn::Sub(a_scaled, hn::Sub(a_scaled, a));
  const V b_hi = hn::Sub(b_scaled, hn::Sub(b_scaled, b));
  const V a_lo = hn::Sub(a, a_hi);
  const V b_lo = hn::Sub(b, b_hi);
  const V cross = hn::Add(hn::Add(hn::Sub(hn::Mul(a_hi, b_hi), product), hn::Mul(a_hi, b_lo)),
                          hn::Mul(a_lo, b_hi));
  return hn::Add(cross, hn::Mul(a_lo, b_lo));
#endif
}

// x1 y1 + x2 y2 in double-double: `high` is the rounded sum of the rounded products, the result
// everything below it.
HWY_INLINE V sum_of_products(D d, V x1, V x1_lo, V y1, V y1_lo, V x2, V x2_lo, V y2, V y2_lo,
                             V& high) {
  const V p1 = hn::Mul(x1, y1);
  const V p2 = hn::Mul(x2, y2);
  V low = hn::Add(product_error(d, x1, y1, p1), product_error(d, x2, y2, p2));
  low = hn::MulAdd(x1, y1_lo, low);
  low = hn::MulAdd(x1_lo, y1, low);
  low = hn::MulAdd(x2, y2_lo, low);
  low = hn::MulAdd(x2_lo, y2, low);
  const V sum = hn::Add(p1, p2);
  const V p2_part = hn::Sub(sum, p1);
  const V error = hn::Add(hn::Sub(p1, hn::Sub(sum, p2_part)), hn::Sub(p2, p2_part));
  high = sum;
  return hn::Add(error, low);
}

template <bool kKeepLow>
HWY_INLINE void turn(const double* a, const double* b, double* out, std::size_t columns) {
  const D d;
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    const V sin = hn::Load(d, a + i);
    const V cos = hn::Load(d, a + columns + i);
    const V sin_lo = hn::Load(d, a + 2 * columns + i);
    const V cos_lo = hn::Load(d, a + 3 * columns + i);
    const V sin_b = hn::Load(d, b + i);
    const V cos_b = hn::Load(d, b + columns + i);
    const V sin_b_lo = hn::Load(d, b + 2 * columns + i);
    const V cos_b_lo = hn::Load(d, b + 3 * columns + i);
    V s = sin;
    V c = cos;
    const V s_rest =
        sum_of_products(d, sin, sin_lo, cos_b, cos_b_lo, cos, cos_lo, sin_b, sin_b_lo, s);
    const V c_rest = sum_of_products(d, cos, cos_lo, cos_b, cos_b_lo, hn::Neg(sin), hn::Neg(sin_lo),
                                     sin_b, sin_b_lo, c);
    const V s_sum = hn::Add(s, s_rest);
    const V c_sum = hn::Add(c, c_rest);
    hn::Store(s_sum, d, out + i);
    hn::Store(c_sum, d, out + columns + i);
    if (kKeepLow) {
      hn::Store(hn::Sub(s_rest, hn::Sub(s_sum, s)), d, out + 2 * columns + i);
      hn::Store(hn::Sub(c_rest, hn::Sub(c_sum, c)), d, out + 3 * columns + i);
    }
  }
}

void turn_exactly(const double* a, const double* b, double* out, std::size_t columns) {
  turn<true>(a, b, out, columns);
}

void turn_and_round(const double* a, const double* b, double* out, std::size_t columns) {
  turn<false>(a, b, out, columns);
}

// The value of one vector of columns.
HWY_INLINE V value(V sin, V cos, V sin_b, V cos_b) {
  return hn::MulAdd(sin, cos_b, hn::Mul(cos, sin_b));
}

HWY_INLINE V smaller(D, V least, V value, V guard) {
  return hn::Min(least, hn::Or(hn::Abs(value), guard));
}

HWY_INLINE bool any_below(D d, V least, double threshold) {
  return !hn::AllFalse(d, hn::Lt(least, hn::Set(d, threshold)));
}

bool turn_to_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                    std::size_t columns) {
  const D d;
  V least = hn::Set(d, kGuard);
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    const V v = value(hn::Load(d, anchor + i), hn::Load(d, anchor + columns + i),
                      hn::Load(d, b + i), hn::Load(d, b + columns + i));
    least = smaller(d, least, v, hn::Load(d, suspicion.guard + i));
    hn::Store(v, d, out + i);
  }
  return any_below(d, least, suspicion.threshold);
}

bool turn_to_exact_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                          std::size_t columns) {
  const D d;
  V least = hn::Set(d, kGuard);
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    V s = hn::Zero(d);
    const V rest =
        sum_of_products(d, hn::Load(d, anchor + i), hn::Load(d, anchor + 2 * columns + i),
                        hn::Load(d, b + columns + i), hn::Load(d, b + 3 * columns + i),
                        hn::Load(d, anchor + columns + i), hn::Load(d, anchor + 3 * columns + i),
                        hn::Load(d, b + i), hn::Load(d, b + 2 * columns + i), s);
    const V v = hn::Add(s, rest);
    least = smaller(d, least, v, hn::Load(d, suspicion.guard + i));
    hn::Store(v, d, out + i);
  }
  return any_below(d, least, suspicion.threshold);
}

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
    const double* by = b + static_cast<std::size_t>(i) * 4 * columns;
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

#else  // no doubles in vectors (WebAssembly with older Highway): the same sums one at a time

void turn_exactly(const double* a, const double* b, double* out, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    const DoubleDouble sin = {a[i], a[2 * columns + i]};
    const DoubleDouble cos = {a[columns + i], a[3 * columns + i]};
    const DoubleDouble sin_b = {b[i], b[2 * columns + i]};
    const DoubleDouble cos_b = {b[columns + i], b[3 * columns + i]};
    const DoubleDouble s = sin * cos_b + cos * sin_b;
    const DoubleDouble c = cos * cos_b + -(sin * sin_b);
    out[i] = s.hi;
    out[columns + i] = c.hi;
    out[2 * columns + i] = s.lo;
    out[3 * columns + i] = c.lo;
  }
}

void turn_and_round(const double* a, const double* b, double* out, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    const DoubleDouble sin = {a[i], a[2 * columns + i]};
    const DoubleDouble cos = {a[columns + i], a[3 * columns + i]};
    const DoubleDouble sin_b = {b[i], b[2 * columns + i]};
    const DoubleDouble cos_b = {b[columns + i], b[3 * columns + i]};
    out[i] = (sin * cos_b + cos * sin_b).hi;
    out[columns + i] = (cos * cos_b + -(sin * sin_b)).hi;
  }
}

bool turn_to_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                    std::size_t columns) {
  bool found = false;
  for (std::size_t i = 0; i < columns; ++i) {
    out[i] = anchor[i] * b[columns + i] + anchor[columns + i] * b[i];
    found = found || (suspicion.guard[i] == 0 && std::fabs(out[i]) < suspicion.threshold);
  }
  return found;
}

bool turn_to_exact_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                          std::size_t columns) {
  bool found = false;
  for (std::size_t i = 0; i < columns; ++i) {
    const DoubleDouble sin = {anchor[i], anchor[2 * columns + i]};
    const DoubleDouble cos = {anchor[columns + i], anchor[3 * columns + i]};
    out[i] = (sin * DoubleDouble{b[columns + i], b[3 * columns + i]} +
              cos * DoubleDouble{b[i], b[2 * columns + i]})
                 .hi;
    found = found || (suspicion.guard[i] == 0 && std::fabs(out[i]) < suspicion.threshold);
  }
  return found;
}

void turn_to_floats(const double* anchors, int anchor_count, const double* b, int b_begin,
                    int b_end, Suspicion suspicion, const FloatRows& rows, std::size_t columns,
                    std::uint8_t* suspicious) {
  for (int i = b_begin; i < b_end; ++i) {
    const double* by = b + static_cast<std::size_t>(i) * 4 * columns;
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

void stream_fill(float* out, std::size_t count, float value) {
  namespace h = hwy::HWY_NAMESPACE;
  const h::ScalableTag<float> d;
  const std::size_t lanes = h::Lanes(d);
  const auto v = h::Set(d, value);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) h::Stream(v, d, out + i);
  for (; i < count; ++i) out[i] = value;
  hwy::FlushStream();
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {

HWY_EXPORT(turn_exactly);
HWY_EXPORT(turn_and_round);
HWY_EXPORT(turn_to_values);
HWY_EXPORT(turn_to_exact_values);
HWY_EXPORT(turn_to_floats);
HWY_EXPORT(stream_fill);

void turn_exactly(const double* a, const double* b, double* out, std::size_t columns) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(turn_exactly)(a, b, out, columns);
}

void turn_and_round(const double* a, const double* b, double* out, std::size_t columns) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(turn_and_round)(a, b, out, columns);
}

bool turn_to_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                    std::size_t columns) noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(turn_to_values)(anchor, b, suspicion, out, columns);
}

bool turn_to_exact_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                          std::size_t columns) noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(turn_to_exact_values)(anchor, b, suspicion, out, columns);
}

void turn_to_floats(const double* anchors, int anchor_count, const double* b, int b_begin,
                    int b_end, Suspicion suspicion, const FloatRows& rows, std::size_t columns,
                    std::uint8_t* suspicious) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(turn_to_floats)
  (anchors, anchor_count, b, b_begin, b_end, suspicion, rows, columns, suspicious);
}

void finish_streaming() noexcept { hwy::FlushStream(); }

void stream_fill(float* out, std::size_t count, float value) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(stream_fill)(out, count, value);
}

}  // namespace sextant
#endif  // HWY_ONCE
