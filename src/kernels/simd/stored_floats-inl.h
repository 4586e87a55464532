// Reads and writes float32, bfloat16 and float16 elements as vectors of float32, and reads int8,
// for the current instruction set; included again for each. Narrowing rounds to nearest, ties to
// even, with the bits of the conversions in core/dtype.h: Highway before 1.2 truncates bfloat16,
// and its emulated float16 neither rounds nor supports infinity.
#if defined(SEXTANT_KERNELS_STORED_FLOATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_STORED_FLOATS_INL_H_
#undef SEXTANT_KERNELS_STORED_FLOATS_INL_H_
#else
#define SEXTANT_KERNELS_STORED_FLOATS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "sextant/core/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether the processor converts float16 itself; its conversions ignore the denormal modes.
#define SEXTANT_NATIVE_FLOAT16 (HWY_ARCH_X86 && HWY_TARGET < HWY_SSE4)

template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const float* p) {
  return hn::LoadU(d, p);
}

template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const bfloat16* p) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::RebindToUnsigned<D> whole;
  const auto bits = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(p));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(whole, bits)));
}

template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const float16* p) {
  const hn::Rebind<std::uint16_t, D> half;
  const auto bits = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(p));
#if SEXTANT_NATIVE_FLOAT16
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
#else
  // The exponent moves by 127 - 15; infinities move once more, and denormals, which have no
  // leading one, are normalised by a subtraction (exact, and of normal numbers only).
  const hn::RebindToUnsigned<D> du;
  const auto wide = hn::PromoteTo(du, bits);
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(wide, hn::Set(du, 0x7fff)));
  const auto exponent = hn::And(magnitude, hn::Set(du, 0x1fU << 23));
  const auto rebias = hn::Set(du, (127U - 15U) << 23);
  const auto normal = hn::Add(magnitude, rebias);
  const auto unbounded = hn::Add(normal, rebias);
  const auto smallest = hn::Set(du, (127U - 14U) << 23);
  const auto denormal = hn::BitCast(
      du, hn::Sub(hn::BitCast(d, hn::Add(magnitude, smallest)), hn::BitCast(d, smallest)));
  auto result = hn::IfThenElse(hn::Eq(exponent, hn::Zero(du)), denormal, normal);
  result = hn::IfThenElse(hn::Eq(exponent, hn::Set(du, 0x1fU << 23)), unbounded, result);
  return hn::BitCast(d, hn::Or(sign, result));
#endif
}

// Without the row's scale.
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const std::int8_t* p) {
  const hn::Rebind<std::int8_t, D> bytes;
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(bytes, p)));
}

// Each lane rounded to bfloat16: its upper 16 bits count.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded_upper_bits(hn::Vec<D> v, D /*d*/) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
}

// The 16 bits of each rounded lane; the pointer says of which type.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, D>> rounded_bits(hn::Vec<D> v, D d, const bfloat16*) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::ShiftRight<16>(rounded_upper_bits(v, d));
  return hn::DemoteTo(hn::Rebind<std::uint16_t, D>(), hn::BitCast(di, bits));
}

template <class D>
HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, D>> rounded_bits(hn::Vec<D> v, D d, const float16*) {
  const hn::Rebind<std::uint16_t, D> half;
#if SEXTANT_NATIVE_FLOAT16
  (void)d;
  return hn::BitCast(half, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v));
#else
  // Normal results drop 13 bits of the fraction. Denormal ones are rounded by an addition: the
  // sum of v and 1/2 has its last bit at 2^-24, the step of denormal float16.
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto all = hn::BitCast(du, v);
  const auto sign = hn::And(all, hn::Set(du, 0x80000000U));
  const auto magnitude = hn::Xor(all, sign);
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
  const auto rebias = hn::Set(du, (127U - 15U) << 23);
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, rebias), hn::Add(odd, hn::Set(du, 0xfff))));
  const auto one_half = hn::Set(du, 126U << 23);
  const auto denormal = hn::Sub(
      hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, one_half))), one_half);
  const auto payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3ff));
  const auto signed_magnitude = hn::BitCast(di, magnitude);  // so that compares are of one kind
  const auto below = [&](std::uint32_t bound) HWY_ATTR {
    return hn::RebindMask(du,
                          hn::Lt(signed_magnitude, hn::Set(di, static_cast<std::int32_t>(bound))));
  };
  auto result = hn::IfThenElse(below((127U - 14U) << 23), denormal, normal);
  result = hn::IfThenElse(below((127U + 16U) << 23), result, hn::Set(du, 0x7c00));
  result = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), hn::Or(payload, hn::Set(du, 0x7e00)),
                          result);
  return hn::DemoteTo(half, hn::BitCast(di, hn::Or(result, hn::ShiftRight<16>(sign))));
#endif
}

template <class D>
HWY_INLINE void store_rounded(hn::Vec<D> v, D d, float* p) {
  hn::StoreU(v, d, p);
}

template <class D, class T>
HWY_INLINE void store_rounded(hn::Vec<D> v, D d, T* p) {
  const hn::Rebind<std::uint16_t, D> half;
  hn::StoreU(rounded_bits(v, d, p), half, reinterpret_cast<std::uint16_t*>(p));
}

// Two whole vectors as one of 16 bits per lane.
template <class D, class T>
HWY_INLINE hn::Vec<hn::Repartition<std::uint16_t, D>> rounded_bits_of_two(hn::Vec<D> low,
                                                                          hn::Vec<D> high, D d,
                                                                          const T* type) {
  const hn::Repartition<std::uint16_t, D> whole;
  if constexpr (std::is_same_v<T, bfloat16>) {
    return hn::ConcatOdd(whole, hn::BitCast(whole, rounded_upper_bits(high, d)),
                         hn::BitCast(whole, rounded_upper_bits(low, d)));
  } else {
    return hn::Combine(whole, rounded_bits(high, d, type), rounded_bits(low, d, type));
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
