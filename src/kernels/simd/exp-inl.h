// e^x and functions of it for activations, for the instruction set being compiled; included again
// for each. Denormals must be off. NaN stays NaN.
#if defined(SEXTANT_KERNELS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_EXP_INL_H_
#undef SEXTANT_KERNELS_EXP_INL_H_
#else
#define SEXTANT_KERNELS_EXP_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/simd/bounds-inl.h"
#include "kernels/simd/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Computes 2^x with a whole vector: exp2 has no shorter ones.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_of(D d, V x) {
  const hn::ScalableTag<float> whole;
  if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(decltype(whole)())) {
    return exp2(d, x);
  } else {
    static_assert(hn::MaxLanes(D()) == 1);
    return hn::Set(d, hn::GetLane(exp2(whole, hn::Set(whole, hn::GetLane(x)))));
  }
}

// e^x for x <= 88; 0 below -87.4. Relative error below 4e-7 where multiply-adds are fused; else
// the product's rounding adds |x| 2^-23.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of(D d, V x) {
  x = at_least(hn::Set(d, -104.0F), x);
  const V log2e = hn::Set(d, 1.44269504F);
  const V y = hn::Mul(x, log2e);
  // The rounding errors of y and log2(e), as a factor 1 + r.
  const V rest = hn::MulAdd(x, hn::Set(d, 1.925963033e-8F), hn::MulSub(x, log2e, y));
  const V power = exp2_of(d, y);
  return hn::MulAdd(hn::Mul(power, rest), hn::Set(d, 0.693147181F), power);
}

// 1 / (1 + e^-x)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  const V e = exp_of(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

// The normal distribution's cumulative and density functions at x, |x| <= 14. Phi(-t) is
// e^(-t t / 2) q(t), and q a polynomial in 1 / (1 + 0.35 t): relative error 4e-8 on 0 .. 14.5,
// found by weighted least squares.
template <class V>
struct Normal {
  V cumulative, density;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE Normal<V> normal(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  const V t = hn::Abs(x);
  const V e = exp_of(d, hn::Mul(hn::Mul(t, t), hn::Set(d, -0.5F)));
  const V u = hn::Div(one, hn::MulAdd(t, hn::Set(d, 0.35F), one));
  V q = hn::Set(d, -0.0282657836F);
  q = hn::MulAdd(q, u, hn::Set(d, 0.139410317F));
  q = hn::MulAdd(q, u, hn::Set(d, -0.245543733F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.146408245F));
  q = hn::MulAdd(q, u, hn::Set(d, -0.0132018179F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.100593761F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.121385239F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.139561638F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.139653578F));
  q = hn::MulAdd(q, u, hn::Set(d, -1.45416163e-06F));
  const V tail = hn::Mul(e, q);
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)),
          hn::Mul(e, hn::Set(d, 0.398942280F))};
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
