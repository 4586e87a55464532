// Loops over contiguous floats: whole vectors, then the rest one number at a time through the same
// code, so that an element's bits do not depend on its index. Included again for each instruction
// set.
#if defined(SEXTANT_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_LANES_INL_H_
#undef SEXTANT_KERNELS_LANES_INL_H_
#else
#define SEXTANT_KERNELS_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/simd/stored_rows.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Prefetches data that a loop over a long array reads, or writes, later: further ahead than
// hardware prefetchers, which stop at the end of each page of 4 KiB.
constexpr std::uintptr_t kPrefetchBytes = 2048;
HWY_INLINE void prefetch_ahead(const float* x) {
  prefetch_l1(reinterpret_cast<std::uintptr_t>(x) + kPrefetchBytes);
}
HWY_INLINE void prefetch_ahead_for_write(const float* x) {
  prefetch_for_write(reinterpret_cast<std::uintptr_t>(x) + kPrefetchBytes);
}

// body(tag, i) for vectors that begin at i.
template <class Body>
HWY_INLINE void each_vector(std::int64_t count, const Body& body) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + n <= count; i += n) body(d, i);
  for (; i < count; ++i) body(one, i);
}

// The sum of value(tag, i) over all: by lanes of four vectors, then together.
template <class Value>
HWY_INLINE float sum_of(std::int64_t count, const Value& value) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    s0 = hn::Add(s0, value(d, i));
    s1 = hn::Add(s1, value(d, i + n));
    s2 = hn::Add(s2, value(d, i + 2 * n));
    s3 = hn::Add(s3, value(d, i + 3 * n));
  }
  for (; i + n <= count; i += n) s0 = hn::Add(s0, value(d, i));
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < count; ++i) sum += hn::GetLane(value(one, i));
  return sum;
}

// The slope of ReLU. NaN, which is not below 0, has slope 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V relu_slope(D d, V x) {
  return hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), hn::Set(d, 1.0F));
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
