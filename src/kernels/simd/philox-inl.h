// Philox 4x32-10 (philox.h) in lanes. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_PHILOX_INL_H_
#undef SEXTANT_KERNELS_PHILOX_INL_H_
#else
#define SEXTANT_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/simd/philox.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct WholeProducts {
  V low, high;
};

// The whole products of 32-bit numbers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE WholeProducts<V> whole_products(D d, V a, std::uint32_t b) {
  const hn::RepartitionToWide<D> wide;
  const auto factor = hn::Set(d, b);
  const auto even = hn::MulEven(a, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), factor);
  return {hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even)),
          hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)))};
}

// Turns the four words of counters into the four random numbers of each.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void philox(D d, std::uint64_t seed, V& c0, V& c1, V& c2, V& c3) {
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const auto p0 = whole_products(d, c0, kPhiloxMultiplier0);
    const auto p1 = whole_products(d, c2, kPhiloxMultiplier1);
    c0 = hn::Xor(hn::Xor(p1.high, c1), hn::Set(d, key0));
    c1 = p1.low;
    c2 = hn::Xor(hn::Xor(p0.high, c3), hn::Set(d, key1));
    c3 = p0.low;
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
