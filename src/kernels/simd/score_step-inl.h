// Computes the steps from a product to the softmax in vectors: the steps of score_numbers.h, bias,
// hiding. All kernels use it and have the same bits. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_
#undef SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_
#else
#define SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/attention/block.h"
#include "kernels/attention/score_numbers.h"
#include "kernels/simd/exp2-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Callers skip steps that a block of scores does not have: the steps before the bias if
// !numbers.has_steps().
struct ScoreStep {
  using D = TileTag;
  using V = hn::Vec<D>;
  using Keys = hn::Vec<hn::RebindToSigned<D>>;
  V cap, rate, inverse;

  HWY_INLINE explicit ScoreStep(const ScoreNumbers<float>& numbers)
      : cap(hn::Set(D(), numbers.softcap)),
        rate(hn::Set(D(),
                     numbers.softcap > 0 ? 2 * static_cast<float>(kLog2E) / numbers.softcap : 0)),
        inverse(hn::Set(D(), numbers.softcap > 0 ? 1 / numbers.softcap : 0)) {}

  static HWY_INLINE V hidden() { return hn::Set(D(), -std::numeric_limits<float>::infinity()); }

  HWY_INLINE V score(V scaled) const { return softcap(D(), scaled, cap, rate); }
  HWY_INLINE V backward(V gradient, V score) const {
    const V tanh = hn::Mul(score, inverse);
    return hn::NegMulAdd(gradient, hn::Mul(tanh, tanh), gradient);
  }
  // A bias of -infinity is added, unless `nan_safe`: NaN and infinity + -infinity would not be
  // hidden.
  static HWY_INLINE V biased(V s, V bias, bool nan_safe) {
    s = hn::Add(s, bias);
    return nan_safe ? hn::IfThenElse(hn::Eq(bias, hidden()), hidden(), s) : s;
  }
  // Whether a key is not in [first, last).
  static HWY_INLINE auto outside(Keys key, Keys first, Keys last) {
    return hn::RebindMask(D(), hn::Or(hn::Lt(key, first), hn::Not(hn::Lt(key, last))));
  }
  static HWY_INLINE V seen(V s, Keys key, Keys first, Keys last) {
    return hn::IfThenElse(outside(key, first, last), hidden(), s);
  }
};

// Calls use(steps, bias, edge) with the properties of a rectangle of scores as compile-time
// constants.
template <class Use>
HWY_INLINE auto dispatch_score_steps(const ScoreNumbers<float>& numbers, bool bias, bool edge,
                                     const Use& use) {
  using Yes = std::true_type;
  using No = std::false_type;
  switch ((numbers.has_steps() ? 4 : 0) + (bias ? 2 : 0) + (edge ? 1 : 0)) {
    case 0:
      return use(No(), No(), No());
    case 1:
      return use(No(), No(), Yes());
    case 2:
      return use(No(), Yes(), No());
    case 3:
      return use(No(), Yes(), Yes());
    case 4:
      return use(Yes(), No(), No());
    case 5:
      return use(Yes(), No(), Yes());
    case 6:
      return use(Yes(), Yes(), No());
    default:
      return use(Yes(), Yes(), Yes());
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
