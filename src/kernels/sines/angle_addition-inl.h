// The sums of products of angle addition, for the instruction set being compiled; included again
// for each.
#if defined(SEXTANT_KERNELS_ANGLE_ADDITION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ANGLE_ADDITION_INL_H_
#undef SEXTANT_KERNELS_ANGLE_ADDITION_INL_H_
#else
#define SEXTANT_KERNELS_ANGLE_ADDITION_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/sines/angle_addition.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
#if HWY_HAVE_FLOAT64
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

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

// The value of one vector of columns.
HWY_INLINE V value(V sin, V cos, V sin_b, V cos_b) {
  return hn::MulAdd(sin, cos_b, hn::Mul(cos, sin_b));
}

HWY_INLINE V smaller(D, V smallest, V value, V guard) {
  return hn::Min(smallest, hn::Or(hn::Abs(value), guard));
}

HWY_INLINE bool any_below(D d, V smallest, double threshold) {
  return !hn::AllFalse(d, hn::Lt(smallest, hn::Set(d, threshold)));
}

#endif
}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
