// exp2 and the softcap of scores, for the instruction set being compiled; included again for each.
#if defined(SEXTANT_KERNELS_EXP2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_EXP2_INL_H_
#undef SEXTANT_KERNELS_EXP2_INL_H_
#else
#define SEXTANT_KERNELS_EXP2_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/simd/bounds-inl.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 2^x for x < 128; relative error below 2.5e-7 (tests/kernels/simd/exp2_test.cc). 2^0 is 1 exactly,
// what is below 2^-126 is 0, 2^-infinity too; NaN stays NaN. Denormals must be off.
//
// x = n + f, 2^x = 2^n p(f); p is the polynomial of degree 5 with p(0) = 1 whose largest relative
// error on f's interval is smallest, found by weighted least squares.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2(D d, V x) {
#if SEXTANT_AVX512
  // f in [0, 1): one instruction here and one at the end, right at infinities and NaN.
  const V f{_mm512_reduce_ps(x.raw, 0x09)};
  V p = hn::Set(d, 1.8671305e-3F);
  p = hn::MulAdd(p, f, hn::Set(d, 9.017029e-3F));
  p = hn::MulAdd(p, f, hn::Set(d, 5.5799913e-2F));
  p = hn::MulAdd(p, f, hn::Set(d, 0.24016444F));
  p = hn::MulAdd(p, f, hn::Set(d, 0.6931513F));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0F));
  return V{_mm512_scalef_ps(p.raw, x.raw)};
#else
  // f in [-1/2, 1/2]
  const hn::RebindToSigned<D> di;
  x = at_least(hn::Set(d, -127.0F), x);
  const V n = hn::Round(x);
  const V f = hn::Sub(x, n);
  V p = hn::Set(d, 1.3264724e-3F);
  p = hn::MulAdd(p, f, hn::Set(d, 9.671513e-3F));
  p = hn::MulAdd(p, f, hn::Set(d, 5.5507336e-2F));
  p = hn::MulAdd(p, f, hn::Set(d, 0.24022242F));
  p = hn::MulAdd(p, f, hn::Set(d, 0.693147F));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0F));
  // 2^n from its exponent's bits; 0 for n = -127.
  const auto bits = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, bits));
#endif
}

// cap * tanh(x / cap), relative error below 7e-7 (same test); `rate` is 2 log2(e) / cap. With
// y = rate x, tanh(x / cap) = e / (e + 2) for e = 2^y - 1 = 2^n f q(f) + (2^n - 1), which loses
// nothing around 0. Beyond |y| = 64 it is +-cap; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V softcap(D d, V x, V cap, V rate) {
  const V y = at_least(hn::Set(d, -64.0F), at_most(hn::Set(d, 64.0F), hn::Mul(x, rate)));
  const V n = hn::Round(y);
  const V f = hn::Sub(y, n);
  V q = hn::Set(d, 1.5403512e-4F);
  q = hn::MulAdd(q, f, hn::Set(d, 1.3390735e-3F));
  q = hn::MulAdd(q, f, hn::Set(d, 9.618238e-3F));
  q = hn::MulAdd(q, f, hn::Set(d, 5.5503573e-2F));
  q = hn::MulAdd(q, f, hn::Set(d, 0.24022649F));
  q = hn::MulAdd(q, f, hn::Set(d, 0.6931472F));
  const V one = hn::Set(d, 1.0F);
  const V two = hn::Set(d, 2.0F);
#if SEXTANT_AVX512
  const V power{_mm512_scalef_ps(one.raw, n.raw)};
#else
  const hn::RebindToSigned<D> di;
  const V power =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127))));
#endif
  const V e = hn::MulAdd(power, hn::Mul(f, q), hn::Sub(power, one));
  const V below = hn::Add(e, two);
#if SEXTANT_AVX512
  // 14 bits and a Newton step; other instruction sets' first guess differs between makers.
  const V guess = hn::ApproximateReciprocal(below);
  const V about = hn::Mul(e, guess);
  const V quotient = hn::MulAdd(hn::NegMulAdd(about, below, e), guess, about);
#else
  const V quotient = hn::Div(e, below);
#endif
  return hn::Mul(cap, quotient);
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
