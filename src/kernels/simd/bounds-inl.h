// Computes bounds that keep NaN on every processor: instructions for minimum and maximum treat NaN
// differently. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_BOUNDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_BOUNDS_INL_H_
#undef SEXTANT_KERNELS_BOUNDS_INL_H_
#else
#define SEXTANT_KERNELS_BOUNDS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// x, or `least` where x is below it; NaN where x is NaN. On x86 the maximum of two numbers of which
// one is NaN is the second operand, on Arm it is the other number.
template <class V>
HWY_INLINE V at_least(V least, V x) {
#if HWY_ARCH_X86
  return hn::Max(least, x);
#else
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}

// x, or `most` where x is above it; NaN where x is NaN.
template <class V>
HWY_INLINE V at_most(V most, V x) {
#if HWY_ARCH_X86
  return hn::Min(most, x);
#else
  return hn::IfThenElse(hn::Gt(x, most), most, x);
#endif
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
