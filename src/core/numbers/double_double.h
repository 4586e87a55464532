// Numbers of about 106 bits as the unevaluated sum of two doubles (Dekker 1971; Knuth 4.2.2).
#pragma once

namespace sextant {

// |lo| <= ulp(hi) / 2. The flag -ffp-contract=off and IEEE doubles are assumed; arguments of
// products must stay below 2^970, where Dekker's splitting would overflow. We have no fused
// multiply-add here: the baseline x86-64 lacks it and the C library's replacement is slower than
// the splitting.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

// Exact sum; |a| >= |b| or a = 0.
inline DoubleDouble quick_two_sum(double a, double b) noexcept {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// Exact sum.
inline DoubleDouble two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// Exact product, unless its lower half underflows.
inline DoubleDouble two_product(double a, double b) noexcept {
  constexpr double kSplitter = 134217729;  // 2^27 + 1
  const double product = a * b;
  const double a_scaled = kSplitter * a;
  const double b_scaled = kSplitter * b;
  const double a_hi = a_scaled - (a_scaled - a);
  const double b_hi = b_scaled - (b_scaled - b);
  const double a_lo = a - a_hi;
  const double b_lo = b - b_hi;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

inline DoubleDouble operator-(DoubleDouble a) noexcept { return {-a.hi, -a.lo}; }

// Relative error below 2^-104 also when the two nearly cancel.
inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) noexcept {
  DoubleDouble high = two_sum(a.hi, b.hi);
  const DoubleDouble low = two_sum(a.lo, b.lo);
  high = quick_two_sum(high.hi, high.lo + low.hi);
  return quick_two_sum(high.hi, high.lo + low.lo);
}

// Relative error below 2^-102.
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) noexcept {
  const DoubleDouble product = two_product(a.hi, b.hi);
  return quick_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

// Relative error below 2^-100; neither x nor the result overflows or underflows in its halves.
inline DoubleDouble reciprocal(DoubleDouble x) noexcept {
  const double r = 1 / x.hi;
  const DoubleDouble product = two_product(x.hi, r);
  const double rest = ((1 - product.hi) - product.lo) - x.lo * r;
  return quick_two_sum(r, r * rest);
}

}  // namespace sextant
