// What happens to a product before the softmax: softcap, bias, hiding. The one definition for the
// kernels of many queries, of few, and of gradients, so that all have the same bits. Included again
// for each instruction set.
#if defined(SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_
#undef SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_
#else
#define SEXTANT_KERNELS_SIMD_SCORE_STEP_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "kernels/attention/block.h"
#include "kernels/simd/exp2-inl.h"
#include "kernels/simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Callers leave out what a block of scores does not have.
struct ScoreStep {
  using D = TileTag;
  using V = hn::Vec<D>;
  using Keys = hn::Vec<hn::RebindToSigned<D>>;
  V cap, rate;

  HWY_INLINE explicit ScoreStep(float softcap)
      : cap(hn::Set(D(), softcap)),
        rate(hn::Set(D(), softcap > 0 ? 2 * static_cast<float>(kLog2E) / softcap : 0)) {}

  static HWY_INLINE V hidden() { return hn::Set(D(), -std::numeric_limits<float>::infinity()); }

  HWY_INLINE V capped(V s) const { return softcap(D(), s, cap, rate); }
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

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
