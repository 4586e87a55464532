// The pairs of one position, of a few heads at once, rotated by a row of the table; the arithmetic
// is in rotate_rows.h. Included again for each instruction set.
#if defined(SEXTANT_KERNELS_ROTATE_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ROTATE_PAIRS_INL_H_
#undef SEXTANT_KERNELS_ROTATE_PAIRS_INL_H_
#else
#define SEXTANT_KERNELS_ROTATE_PAIRS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/rotate/rotate_rows.h"
#include "kernels/simd/stored_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// Prefetch distance in bytes; half and twice were slower.
inline constexpr std::size_t kRotatePrefetchBytes = 4096;

// One row of the table; `sign` flips the sign of the sines (0, or -0 for the inverse).
template <class U>
struct TableRow {
  const U* cos;
  const U* sin;
  std::int64_t pairs;
  float sign;
};

template <class U>
HWY_INLINE TableRow<U> row_of(const BasicRotationRows<U>& table, std::int64_t n) {
  const std::int64_t at = table.row_index(n) * table.stride;
  return {table.cos + at, table.sin + at, table.pairs, table.inverse ? -0.0F : 0.0F};
}

template <class V>
HWY_INLINE V first_of_pair(V x1, V x2, V cos, V sin) {
  return hn::NegMulAdd(x2, sin, hn::Mul(x1, cos));
}

template <class V>
HWY_INLINE V second_of_pair(V x1, V x2, V cos, V sin) {
  return hn::MulAdd(x1, sin, hn::Mul(x2, cos));
}

template <class D, class U>
HWY_INLINE hn::Vec<D> load_sines(D d, const TableRow<U>& table, std::int64_t k) {
  return hn::Xor(load_floats(d, table.sin + k), hn::Set(d, table.sign));
}

// The rows of a few heads at one position.
template <class T>
struct HeadRows {
  const T* x;
  T* out;
  std::int64_t heads;
  std::int64_t x_head;
  std::int64_t out_head;
};

// Prefetches ahead of `p` as far as memory latency needs, the bytes of two vectors of floats stored
// as T. The address may be outside the array.
template <class D, class T>
HWY_INLINE void prefetch_ahead(D, const T* p) {
  const auto* bytes = reinterpret_cast<const char*>(p);
  for (std::size_t i = 0; i < 2 * hn::MaxLanes(D()) * sizeof(T); i += 64) {
    hwy::Prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(bytes) +
                                                kRotatePrefetchBytes + i));
  }
}

template <bool stream, class D>
HWY_INLINE void put(hn::Vec<D> v, D d, float* out) {
  if constexpr (stream) {
    hn::Stream(v, d, out);
  } else {
    hn::StoreU(v, d, out);
  }
}

// 16-bit vectors are half as long, which Highway 1.0.3 cannot stream: wherever can_stream() holds,
// they come in twos.
template <bool stream, class D, class T>
HWY_INLINE void put(hn::Vec<D> v, D d, T* out) {
  store_rounded(v, d, out);
}

// Two consecutive vectors.
template <bool stream, class D>
HWY_INLINE void put_two(hn::Vec<D> low, hn::Vec<D> high, D d, float* out) {
  put<stream>(low, d, out);
  put<stream>(high, d, out + hn::Lanes(d));
}

template <bool stream, class D, class T>
HWY_INLINE void put_two(hn::Vec<D> low, hn::Vec<D> high, D d, T* out) {
  const hn::Repartition<std::uint16_t, D> whole;
  const auto joined = rounded_bits_of_two(low, high, d, out);
  auto* bits = reinterpret_cast<std::uint16_t*>(out);
  if constexpr (stream) {
    hn::Stream(joined, whole, bits);
  } else {
    hn::StoreU(joined, whole, bits);
  }
}

// Pairs k .. of (x[k], x[pairs + k]) in whole vectors; returns the first pair that is left.
template <bool stream, class D, class T, class U>
HWY_INLINE std::int64_t rotate_half_split(D d, const TableRow<U>& table, std::int64_t k,
                                          const HeadRows<T>& rows) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t half = table.pairs;
  for (; k + 2 * lanes <= half; k += 2 * lanes) {
    const auto cos = load_floats(d, table.cos + k);
    const auto sin = load_sines(d, table, k);
    const auto cos_next = load_floats(d, table.cos + k + lanes);
    const auto sin_next = load_sines(d, table, k + lanes);
    for (std::int64_t h = 0; h < rows.heads; ++h) {
      const T* x = rows.x + h * rows.x_head + k;
      T* out = rows.out + h * rows.out_head + k;
      prefetch_ahead(d, x);
      prefetch_ahead(d, x + half);
      const auto a = load_floats(d, x);
      const auto b = load_floats(d, x + half);
      const auto a_next = load_floats(d, x + lanes);
      const auto b_next = load_floats(d, x + half + lanes);
      put_two<stream>(first_of_pair(a, b, cos, sin),
                      first_of_pair(a_next, b_next, cos_next, sin_next), d, out);
      put_two<stream>(second_of_pair(a, b, cos, sin),
                      second_of_pair(a_next, b_next, cos_next, sin_next), d, out + half);
    }
  }
  for (; k + lanes <= half; k += lanes) {
    const auto cos = load_floats(d, table.cos + k);
    const auto sin = load_sines(d, table, k);
    for (std::int64_t h = 0; h < rows.heads; ++h) {
      const T* x = rows.x + h * rows.x_head + k;
      T* out = rows.out + h * rows.out_head + k;
      const auto a = load_floats(d, x);
      const auto b = load_floats(d, x + half);
      put<stream>(first_of_pair(a, b, cos, sin), d, out);
      put<stream>(second_of_pair(a, b, cos, sin), d, out + half);
    }
  }
  return k;
}

// The same for pairs (x[2k], x[2k + 1]). Both channels are rotated by one formula, x * cos +
// partner * (-+sin), whose roundings are those of the two.
template <bool stream, class D, class T, class U>
HWY_INLINE std::int64_t rotate_interleaved(D d, const TableRow<U>& table, std::int64_t k,
                                           const HeadRows<T>& rows) {
  const hn::RebindToSigned<D> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto iota = hn::Iota(di, 0);
  const auto low = hn::IndicesFromVec(d, hn::ShiftRight<1>(iota));
  const auto high = hn::IndicesFromVec(
      d, hn::ShiftRight<1>(hn::Add(iota, hn::Set(di, static_cast<std::int32_t>(lanes)))));
  const auto even_sign = hn::BitCast(d, hn::ShiftLeft<31>(hn::Not(iota)));
  const auto rotated = [&](auto own, auto cos, auto sin) HWY_ATTR {
    return hn::MulAdd(hn::Reverse2(d, own), sin, hn::Mul(own, cos));
  };
  for (; k + lanes <= table.pairs; k += lanes) {
    const auto cos = load_floats(d, table.cos + k);
    const auto sin = load_sines(d, table, k);
    const auto cos_low = hn::TableLookupLanes(cos, low);
    const auto sin_low = hn::Xor(even_sign, hn::TableLookupLanes(sin, low));
    const auto cos_high = hn::TableLookupLanes(cos, high);
    const auto sin_high = hn::Xor(even_sign, hn::TableLookupLanes(sin, high));
    for (std::int64_t h = 0; h < rows.heads; ++h) {
      const T* x = rows.x + h * rows.x_head + 2 * k;
      prefetch_ahead(d, x);
      put_two<stream>(rotated(load_floats(d, x), cos_low, sin_low),
                      rotated(load_floats(d, x + lanes), cos_high, sin_high), d,
                      rows.out + h * rows.out_head + 2 * k);
    }
  }
  return k;
}

// Pairs k .. one at a time with the operations of whole vectors, hence with their bits.
template <class T, class U>
HWY_INLINE void rotate_scalar(const TableRow<U>& table, std::int64_t k, const T* x1, const T* x2,
                              std::int64_t x_step, T* out1, T* out2, std::int64_t out_step) {
  const hn::CappedTag<float, 1> d;
  for (; k < table.pairs; ++k) {
    const auto cos = load_floats(d, table.cos + k);
    const auto sin = load_sines(d, table, k);
    const auto a = load_floats(d, x1 + k * x_step);
    const auto b = load_floats(d, x2 + k * x_step);
    store_rounded(first_of_pair(a, b, cos, sin), d, out1 + k * out_step);
    store_rounded(second_of_pair(a, b, cos, sin), d, out2 + k * out_step);
  }
}

// The spans of a few heads, each contiguous.
template <bool interleaved, bool stream, class T, class U>
HWY_INLINE void rotate_spans(const TableRow<U>& table, const HeadRows<T>& rows) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 4> few;
  std::int64_t k = 0;
  if constexpr (interleaved) {
    k = rotate_interleaved<stream>(d, table, 0, rows);
    if (k < table.pairs) k = rotate_interleaved<false>(few, table, k, rows);
  } else {
    k = rotate_half_split<stream>(d, table, 0, rows);
    if (k < table.pairs) k = rotate_half_split<false>(few, table, k, rows);
  }
  if (k == table.pairs) return;
  const std::int64_t step = interleaved ? 2 : 1;
  const std::int64_t partner = interleaved ? 1 : table.pairs;
  for (std::int64_t h = 0; h < rows.heads; ++h) {
    const T* x = rows.x + h * rows.x_head;
    T* out = rows.out + h * rows.out_head;
    rotate_scalar(table, k, x, x + partner, step, out, out + partner, step);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
