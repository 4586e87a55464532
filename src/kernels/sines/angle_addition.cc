// Sums of angles. With position p = 64 a + b, sin(p t) = sin(64 a t) cos(b t) +
// cos(64 a t) sin(b t): two small tables of doubles give every value with one multiplication and
// one addition, no recurrence and so no drift. Error of such a sum near its zero, where both
// products have size 1/2 at most: the factors of a are off by 2^-53, those of b by 2^-54, which
// makes (2^-53 + 2^-54) sqrt(2), and the product rounds by 2^-55 (two of them without fused
// multiply-add, where a is off by 2^-54 too): below 2^-51.7, which is 0.8e-4 units in the last
// place of a float32 above 2^-15. Below that the caller computes the value exactly; the doubles
// have errors below 2^-100 there.
#include "kernels/sines/angle_addition.h"

#include <algorithm>
#include <cmath>

#include "core/numbers/double_double.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sines/angle_addition.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/sines/angle_addition-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

#if HWY_HAVE_FLOAT64
// One vector of columns of a row.
struct Angle {
  V sin, cos, sin_lo, cos_lo;
};

HWY_INLINE Angle load_angle(D d, const double* row, std::size_t columns) {
  return {hn::Load(d, row), hn::Load(d, row + columns), hn::Load(d, row + 2 * columns),
          hn::Load(d, row + 3 * columns)};
}

template <bool kKeepLow>
HWY_INLINE void add_angles(const double* a, const double* b, double* out, std::size_t columns) {
  const D d;
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    const Angle x = load_angle(d, a + i, columns);
    const Angle y = load_angle(d, b + i, columns);
    V s = x.sin;
    V c = x.cos;
    const V s_rest =
        sum_of_products(d, x.sin, x.sin_lo, y.cos, y.cos_lo, x.cos, x.cos_lo, y.sin, y.sin_lo, s);
    const V c_rest = sum_of_products(d, x.cos, x.cos_lo, y.cos, y.cos_lo, hn::Neg(x.sin),
                                     hn::Neg(x.sin_lo), y.sin, y.sin_lo, c);
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

void add_angles_exactly(const double* a, const double* b, double* out, std::size_t columns) {
  add_angles<true>(a, b, out, columns);
}

void add_angles_rounded(const double* a, const double* b, double* out, std::size_t columns) {
  add_angles<false>(a, b, out, columns);
}

void add_angles_to_anchor(const double* a, const double* b, double* out, std::size_t columns) {
#if HWY_NATIVE_FMA
  const D d;
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    const Angle x = load_angle(d, a + i, columns);
    const Angle y = load_angle(d, b + i, columns);
    // The low halves first, then the two products: two roundings of numbers below 1, each 2^-54.
    const V s_low = hn::MulAdd(
        x.sin, y.cos_lo,
        hn::MulAdd(x.sin_lo, y.cos, hn::MulAdd(x.cos, y.sin_lo, hn::Mul(x.cos_lo, y.sin))));
    const V c_low = hn::NegMulAdd(
        x.sin, y.sin_lo,
        hn::NegMulAdd(x.sin_lo, y.sin, hn::MulAdd(x.cos, y.cos_lo, hn::Mul(x.cos_lo, y.cos))));
    hn::Store(hn::MulAdd(x.sin, y.cos, hn::MulAdd(x.cos, y.sin, s_low)), d, out + i);
    hn::Store(hn::MulAdd(x.cos, y.cos, hn::NegMulAdd(x.sin, y.sin, c_low)), d, out + columns + i);
  }
#else
  add_angles<false>(a, b, out, columns);
#endif
}

bool sines_of_sums(const double* anchor, const double* b, CancellationTest cancellation,
                   double* out, std::size_t columns) {
  const D d;
  V smallest = hn::Set(d, kGuard);
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    const V v = value(hn::Load(d, anchor + i), hn::Load(d, anchor + columns + i),
                      hn::Load(d, b + i), hn::Load(d, b + columns + i));
    smallest = smaller(d, smallest, v, hn::Load(d, cancellation.guard + i));
    hn::Store(v, d, out + i);
  }
  return any_below(d, smallest, cancellation.threshold);
}

bool sines_of_exact_sums(const double* anchor, const double* b, CancellationTest cancellation,
                         double* out, std::size_t columns) {
  const D d;
  V smallest = hn::Set(d, kGuard);
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    V s = hn::Zero(d);
    const V rest =
        sum_of_products(d, hn::Load(d, anchor + i), hn::Load(d, anchor + 2 * columns + i),
                        hn::Load(d, b + columns + i), hn::Load(d, b + 3 * columns + i),
                        hn::Load(d, anchor + columns + i), hn::Load(d, anchor + 3 * columns + i),
                        hn::Load(d, b + i), hn::Load(d, b + 2 * columns + i), s);
    const V v = hn::Add(s, rest);
    smallest = smaller(d, smallest, v, hn::Load(d, cancellation.guard + i));
    hn::Store(v, d, out + i);
  }
  return any_below(d, smallest, cancellation.threshold);
}

std::size_t find_cancellations(const double* anchor, const double* b, CancellationTest cancellation,
                               std::int32_t* found, std::size_t columns) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V threshold = hn::Set(d, cancellation.threshold);
  HWY_ALIGN double magnitudes[kColumnPadding];
  std::size_t count = 0;
  for (std::size_t i = 0; i < columns; i += lanes) {
    const V v = value(hn::Load(d, anchor + i), hn::Load(d, anchor + columns + i),
                      hn::Load(d, b + i), hn::Load(d, b + columns + i));
    const V magnitude = hn::Or(hn::Abs(v), hn::Load(d, cancellation.guard + i));
    if (hn::AllFalse(d, hn::Lt(magnitude, threshold))) continue;
    hn::Store(magnitude, d, magnitudes);
    for (std::size_t j = 0; j < lanes; ++j) {
      if (magnitudes[j] < cancellation.threshold) found[count++] = static_cast<std::int32_t>(i + j);
    }
  }
  return count;
}

#else  // no doubles in vectors (WebAssembly with older Highway): the same sums one at a time

void add_angles_exactly(const double* a, const double* b, double* out, std::size_t columns) {
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

void add_angles_rounded(const double* a, const double* b, double* out, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    const DoubleDouble sin = {a[i], a[2 * columns + i]};
    const DoubleDouble cos = {a[columns + i], a[3 * columns + i]};
    const DoubleDouble sin_b = {b[i], b[2 * columns + i]};
    const DoubleDouble cos_b = {b[columns + i], b[3 * columns + i]};
    out[i] = (sin * cos_b + cos * sin_b).hi;
    out[columns + i] = (cos * cos_b + -(sin * sin_b)).hi;
  }
}

void add_angles_to_anchor(const double* a, const double* b, double* out, std::size_t columns) {
  add_angles_rounded(a, b, out, columns);
}

bool sines_of_sums(const double* anchor, const double* b, CancellationTest cancellation,
                   double* out, std::size_t columns) {
  bool found = false;
  for (std::size_t i = 0; i < columns; ++i) {
    out[i] = anchor[i] * b[columns + i] + anchor[columns + i] * b[i];
    found = found || (cancellation.guard[i] == 0 && std::fabs(out[i]) < cancellation.threshold);
  }
  return found;
}

bool sines_of_exact_sums(const double* anchor, const double* b, CancellationTest cancellation,
                         double* out, std::size_t columns) {
  bool found = false;
  for (std::size_t i = 0; i < columns; ++i) {
    const DoubleDouble sin = {anchor[i], anchor[2 * columns + i]};
    const DoubleDouble cos = {anchor[columns + i], anchor[3 * columns + i]};
    out[i] = (sin * DoubleDouble{b[columns + i], b[3 * columns + i]} +
              cos * DoubleDouble{b[i], b[2 * columns + i]})
                 .hi;
    found = found || (cancellation.guard[i] == 0 && std::fabs(out[i]) < cancellation.threshold);
  }
  return found;
}

std::size_t find_cancellations(const double* anchor, const double* b, CancellationTest cancellation,
                               std::int32_t* found, std::size_t columns) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const double v = anchor[i] * b[columns + i] + anchor[columns + i] * b[i];
    if (cancellation.guard[i] == 0 && std::fabs(v) < cancellation.threshold) {
      found[count++] = static_cast<std::int32_t>(i);
    }
  }
  return count;
}

#endif

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(add_angles_exactly);
HWY_EXPORT(add_angles_rounded);
HWY_EXPORT(add_angles_to_anchor);
HWY_EXPORT(sines_of_sums);
HWY_EXPORT(sines_of_exact_sums);
HWY_EXPORT(find_cancellations);

void add_angles_exactly(const double* a, const double* b, double* out,
                        std::size_t columns) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_angles_exactly)(a, b, out, columns);
}

void add_angles_rounded(const double* a, const double* b, double* out,
                        std::size_t columns) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_angles_rounded)(a, b, out, columns);
}

void add_angles_to_anchor(const double* a, const double* b, double* out,
                          std::size_t columns) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_angles_to_anchor)(a, b, out, columns);
}

bool sines_of_sums(const double* anchor, const double* b, CancellationTest cancellation,
                   double* out, std::size_t columns) noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(sines_of_sums)(anchor, b, cancellation, out, columns);
}

bool sines_of_exact_sums(const double* anchor, const double* b, CancellationTest cancellation,
                         double* out, std::size_t columns) noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(sines_of_exact_sums)(anchor, b, cancellation, out, columns);
}

std::size_t find_cancellations(const double* anchor, const double* b, CancellationTest cancellation,
                               std::int32_t* found, std::size_t columns) noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(find_cancellations)(anchor, b, cancellation, found, columns);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
