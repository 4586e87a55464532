// Rotation of pairs of channels (RoPE, Su et al. 2021, equation 34); the arithmetic is in the
// header. Memory is the limit, so rows are read once and written once: a few heads turn together,
// which shares the loads of the table's row and gives the memory several places to read from at
// once; lines are asked for ahead of their use, because the processor's own prefetching stops at
// the end of a page; and results too large for the caches go past them, without reading what they
// overwrite.
#include "kernels/rotate_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/stored_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// Where heads are apart, so many turn together: in place, one and four were a quarter slower.
inline constexpr std::int64_t kTogether = 2;
// Bytes between a line that is asked for and the one in use; half and twice were slower.
inline constexpr std::size_t kAhead = 4096;

// One row of the table; `sign` flips the sines' (0, or -0 to turn back).
template <class U>
struct TableRow {
  const U* cos;
  const U* sin;
  std::int64_t pairs;
  float sign;
};

template <class U>
HWY_INLINE TableRow<U> row_of(const BasicRotationRows<U>& table, std::int64_t n) {
  return {table.cos + n * table.stride, table.sin + n * table.stride, table.pairs,
          table.inverse ? -0.0F : 0.0F};
}

// Whether heads are nearer to each other than rows are.
template <class T>
HWY_INLINE bool heads_inside(const RotatedHeads<T>& all) {
  return std::abs(all.out_strides[0]) < std::abs(all.out_strides[1]);
}

// Whether all that is written begins and ends at a line, of 64 bytes.
template <class T, class U>
HWY_INLINE bool can_stream(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
  return reinterpret_cast<std::uintptr_t>(all.out) % 64 == 0 && all.out_strides[0] % kLine == 0 &&
         all.out_strides[1] % kLine == 0 && table.first_channel % kLine == 0 &&
         table.pairs % kLine == 0 && all.head_dim % kLine == 0;
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

// Asks for what lies as far ahead of `p` as memory takes to answer, a vector of T for each of two
// of floats. Nothing is read there, so it need not belong to the array.
template <class D, class T>
HWY_INLINE void ask_ahead(D, const T* p) {
  const auto* bytes = reinterpret_cast<const char*>(p);
  for (std::size_t i = 0; i < 2 * hn::MaxLanes(D()) * sizeof(T); i += 64) {
    hwy::Prefetch(
        reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(bytes) + kAhead + i));
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

// Two vectors side by side.
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

// Pairs k .. of (x[k], x[pairs + k]) as far as whole vectors go; returns the first pair left.
template <bool stream, class D, class T, class U>
HWY_INLINE std::int64_t turn_halves(D d, const TableRow<U>& table, std::int64_t k,
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
      ask_ahead(d, x);
      ask_ahead(d, x + half);
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

// The same for pairs (x[2k], x[2k + 1]). Both channels are turned by one formula, own * cos +
// partner * (-+sin), whose roundings are those of the two.
template <bool stream, class D, class T, class U>
HWY_INLINE std::int64_t turn_neighbours(D d, const TableRow<U>& table, std::int64_t k,
                                        const HeadRows<T>& rows) {
  const hn::RebindToSigned<D> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto iota = hn::Iota(di, 0);
  const auto low = hn::IndicesFromVec(d, hn::ShiftRight<1>(iota));
  const auto high = hn::IndicesFromVec(
      d, hn::ShiftRight<1>(hn::Add(iota, hn::Set(di, static_cast<std::int32_t>(lanes)))));
  const auto even_sign = hn::BitCast(d, hn::ShiftLeft<31>(hn::Not(iota)));
  const auto turned = [&](auto own, auto cos, auto sin) HWY_ATTR {
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
      ask_ahead(d, x);
      put_two<stream>(turned(load_floats(d, x), cos_low, sin_low),
                      turned(load_floats(d, x + lanes), cos_high, sin_high), d,
                      rows.out + h * rows.out_head + 2 * k);
    }
  }
  return k;
}

// Pairs k .. one at a time with the operations of whole vectors, hence with their bits.
template <class T, class U>
HWY_INLINE void turn_singly(const TableRow<U>& table, std::int64_t k, const T* x1, const T* x2,
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
HWY_INLINE void turn_spans(const TableRow<U>& table, const HeadRows<T>& rows) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 4> few;
  std::int64_t k = 0;
  if constexpr (interleaved) {
    k = turn_neighbours<stream>(d, table, 0, rows);
    if (k < table.pairs) k = turn_neighbours<false>(few, table, k, rows);
  } else {
    k = turn_halves<stream>(d, table, 0, rows);
    if (k < table.pairs) k = turn_halves<false>(few, table, k, rows);
  }
  if (k == table.pairs) return;
  const std::int64_t step = interleaved ? 2 : 1;
  const std::int64_t partner = interleaved ? 1 : table.pairs;
  for (std::int64_t h = 0; h < rows.heads; ++h) {
    const T* x = rows.x + h * rows.x_head;
    T* out = rows.out + h * rows.out_head;
    turn_singly(table, k, x, x + partner, step, out, out + partner, step);
  }
}

// Channels outside the span.
template <bool stream, class T>
HWY_INLINE void copy_channels(const T* from, T* out, std::int64_t begin, std::int64_t end) {
  if constexpr (stream) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d) / sizeof(T));
    for (; begin < end; begin += lanes) {
      hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + begin)), d,
                 reinterpret_cast<std::uint8_t*>(out + begin));
    }
  } else {
    std::copy(from + begin, from + end, out + begin);
  }
}

template <bool interleaved, bool stream, class T, class U>
HWY_INLINE void turn_heads(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  const std::int64_t begin = table.first_channel;
  const std::int64_t end = begin + 2 * table.pairs;
  const bool copies = all.x != all.out && 2 * table.pairs != all.head_dim;
  const auto turn_some = [&](std::int64_t h, std::int64_t n, std::int64_t most) HWY_ATTR {
    HeadRows<T> rows{all.x + h * all.x_strides[0] + n * all.x_strides[1],
                     all.out + h * all.out_strides[0] + n * all.out_strides[1],
                     std::min(most, all.heads - h), all.x_strides[0], all.out_strides[0]};
    for (std::int64_t i = 0; copies && i < rows.heads; ++i) {
      copy_channels<stream>(rows.x + i * rows.x_head, rows.out + i * rows.out_head, 0, begin);
      copy_channels<stream>(rows.x + i * rows.x_head, rows.out + i * rows.out_head, end,
                            all.head_dim);
    }
    rows.x += begin;
    rows.out += begin;
    turn_spans<interleaved, stream>(row_of(table, n), rows);
  };
  if (heads_inside(all)) {
    for (std::int64_t n = 0; n < all.rows; ++n) {
      for (std::int64_t h = 0; h < all.heads; ++h) turn_some(h, n, 1);
    }
  } else {
    for (std::int64_t h = 0; h < all.heads; h += kTogether) {
      for (std::int64_t n = 0; n < all.rows; ++n) turn_some(h, n, kTogether);
    }
  }
  if (stream) hwy::FlushStream();
}

// Channels that do not lie side by side.
template <class T, class U>
HWY_INLINE void turn_scattered(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  const std::int64_t x_step = all.x_strides[2];
  const std::int64_t out_step = all.out_strides[2];
  const std::int64_t begin = table.first_channel;
  const std::int64_t end = begin + 2 * table.pairs;
  const std::int64_t step = table.interleaved ? 2 : 1;
  const std::int64_t partner = table.interleaved ? 1 : table.pairs;
  for (std::int64_t h = 0; h < all.heads; ++h) {
    for (std::int64_t n = 0; n < all.rows; ++n) {
      const T* x = all.x + h * all.x_strides[0] + n * all.x_strides[1];
      T* out = all.out + h * all.out_strides[0] + n * all.out_strides[1];
      for (std::int64_t c = 0; c < begin; ++c) out[c * out_step] = x[c * x_step];
      for (std::int64_t c = end; c < all.head_dim; ++c) out[c * out_step] = x[c * x_step];
      x += begin * x_step;
      out += begin * out_step;
      turn_singly(row_of(table, n), 0, x, x + partner * x_step, step * x_step, out,
                  out + partner * out_step, step * out_step);
    }
  }
}

template <bool interleaved, class T, class U>
HWY_INLINE void turn_layout(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  if (all.stream && can_stream(all, table)) {
    turn_heads<interleaved, true>(all, table);
  } else {
    turn_heads<interleaved, false>(all, table);
  }
}

template <class T, class U>
HWY_INLINE void turn(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  if (all.x_strides[2] != 1 || all.out_strides[2] != 1) {
    turn_scattered(all, table);
  } else if (table.interleaved) {
    turn_layout<true>(all, table);
  } else {
    turn_layout<false>(all, table);
  }
}

void rotate_float(const RotatedHeads<float>& heads, const BasicRotationRows<float>& table) {
  turn(heads, table);
}
void rotate_bfloat(const RotatedHeads<bfloat16>& heads, const BasicRotationRows<float>& table) {
  turn(heads, table);
}
void rotate_bfloat_by_own(const RotatedHeads<bfloat16>& heads,
                          const BasicRotationRows<bfloat16>& table) {
  turn(heads, table);
}
void rotate_half(const RotatedHeads<float16>& heads, const BasicRotationRows<float>& table) {
  turn(heads, table);
}
void rotate_half_by_own(const RotatedHeads<float16>& heads,
                        const BasicRotationRows<float16>& table) {
  turn(heads, table);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {

HWY_EXPORT(rotate_float);
HWY_EXPORT(rotate_bfloat);
HWY_EXPORT(rotate_bfloat_by_own);
HWY_EXPORT(rotate_half);
HWY_EXPORT(rotate_half_by_own);

void rotate_heads(const RotatedHeads<float>& heads,
                  const BasicRotationRows<float>& table) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(rotate_float)(heads, table);
}
void rotate_heads(const RotatedHeads<bfloat16>& heads,
                  const BasicRotationRows<float>& table) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(rotate_bfloat)(heads, table);
}
void rotate_heads(const RotatedHeads<bfloat16>& heads,
                  const BasicRotationRows<bfloat16>& table) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(rotate_bfloat_by_own)(heads, table);
}
void rotate_heads(const RotatedHeads<float16>& heads,
                  const BasicRotationRows<float>& table) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(rotate_half)(heads, table);
}
void rotate_heads(const RotatedHeads<float16>& heads,
                  const BasicRotationRows<float16>& table) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(rotate_half_by_own)(heads, table);
}

void rotate_rows(float* x, std::int64_t row_stride, std::int64_t count,
                 const RotationRows& table) noexcept {
  RotatedHeads<float> heads;
  heads.x = x;
  heads.out = x;
  heads.heads = 1;
  heads.rows = count;
  heads.head_dim = table.first_channel + 2 * table.pairs;
  heads.x_strides[1] = heads.out_strides[1] = row_stride;
  heads.x_strides[2] = heads.out_strides[2] = 1;
  rotate_heads(heads, table);
}

}  // namespace sextant
#endif  // HWY_ONCE
