// Rotation of pairs of channels (RoPE, Su et al. 2021, equation 34), limited by memory: rows are
// read once and written once, a table row stays in the caches for all heads. The arithmetic is in
// the header. Large results are put together in a small buffer and written past the caches in
// whole lines, in the order of memory, whatever layout, width and storage.
#include "kernels/rotate_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/stored_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// One row of the table; `sign` is added to the sine's (0, or -0 to turn back).
template <class U>
struct TableRow {
  const U* cos;
  const U* sin;
  std::int64_t pairs;
  float sign;
};

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

// Pairs k .. of (x1[k], x2[k]) as far as whole vectors go; returns the first pair left.
template <class D, class T, class U>
HWY_INLINE std::int64_t turn_halves(D d, const TableRow<U>& table, std::int64_t k, const T* x1,
                                    const T* x2, T* out1, T* out2) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; k + lanes <= table.pairs; k += lanes) {
    const auto cos = load_floats(d, table.cos + k);
    const auto sin = load_sines(d, table, k);
    const auto a = load_floats(d, x1 + k);
    const auto b = load_floats(d, x2 + k);
    store_rounded(first_of_pair(a, b, cos, sin), d, out1 + k);
    store_rounded(second_of_pair(a, b, cos, sin), d, out2 + k);
  }
  return k;
}

// The same for pairs (x[2k], x[2k + 1]). Both channels are turned by one formula, own * cos +
// partner * (-+sin), whose roundings are those of the two.
template <class D, class T, class U>
HWY_INLINE std::int64_t turn_neighbours(D d, const TableRow<U>& table, std::int64_t k, const T* x,
                                        T* out) {
  const hn::RebindToSigned<D> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto iota = hn::Iota(di, 0);
  const auto low = hn::IndicesFromVec(d, hn::ShiftRight<1>(iota));
  const auto high = hn::IndicesFromVec(
      d, hn::ShiftRight<1>(hn::Add(iota, hn::Set(di, static_cast<std::int32_t>(lanes)))));
  const auto even_sign = hn::BitCast(d, hn::ShiftLeft<31>(hn::Not(iota)));
  const auto turn = [&](auto own, auto cos, auto sin) HWY_ATTR {
    return hn::MulAdd(hn::Reverse2(d, own), hn::Xor(sin, even_sign), hn::Mul(own, cos));
  };
  for (; k + lanes <= table.pairs; k += lanes) {
    const auto cos = load_floats(d, table.cos + k);
    const auto sin = load_sines(d, table, k);
    const auto a = load_floats(d, x + 2 * k);
    const auto b = load_floats(d, x + 2 * k + lanes);
    const auto turned_a = turn(a, hn::TableLookupLanes(cos, low), hn::TableLookupLanes(sin, low));
    const auto turned_b = turn(b, hn::TableLookupLanes(cos, high), hn::TableLookupLanes(sin, high));
    store_rounded(turned_a, d, out + 2 * k);
    store_rounded(turned_b, d, out + 2 * k + lanes);
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

// The span of one row.
template <bool interleaved, class T, class U>
HWY_INLINE void turn_span(const TableRow<U>& table, const T* x, T* out) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 4> few;
  if constexpr (interleaved) {
    std::int64_t k = turn_neighbours(d, table, 0, x, out);
    k = turn_neighbours(few, table, k, x, out);
    turn_singly(table, k, x, x + 1, 2, out, out + 1, 2);
  } else {
    const std::int64_t half = table.pairs;
    std::int64_t k = turn_halves(d, table, 0, x, x + half, out, out + half);
    k = turn_halves(few, table, k, x, x + half, out, out + half);
    turn_singly(table, k, x, x + half, 1, out, out + half, 1);
  }
}

// Past the caches but for the bytes before and after whole vectors of `out`.
HWY_INLINE void stream_bytes(const std::uint8_t* from, std::uint8_t* out, std::size_t count) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = (0 - reinterpret_cast<std::uintptr_t>(out)) % lanes;
  if (count < i + lanes) {
    std::memcpy(out, from, count);
    return;
  }
  std::memcpy(out, from, i);
  for (; i + lanes <= count; i += lanes) hn::Stream(hn::LoadU(d, from + i), d, out + i);
  std::memcpy(out + i, from + i, count - i);
}

template <bool interleaved, class T, class U>
class Turner {
 public:
  Turner(const RotatedHeads<T>& heads, const BasicRotationRows<U>& table)
      : heads_(heads), table_(table), in_place_(heads.x == heads.out) {}

  HWY_INLINE void run() {
    const std::int64_t(&xs)[3] = heads_.x_strides;
    const std::int64_t(&os)[3] = heads_.out_strides;
    const bool heads_inside = std::abs(os[0]) < std::abs(os[1]);
    const std::int64_t outer = heads_inside ? heads_.rows : heads_.heads;
    const std::int64_t inner = heads_inside ? heads_.heads : heads_.rows;
    const int outer_axis = heads_inside ? 1 : 0;
    const int inner_axis = 1 - outer_axis;
    const std::int64_t outer_turn = heads_inside ? table_.stride : 0;
    const std::int64_t inner_turn = heads_inside ? 0 : table_.stride;
    const bool dense = xs[2] == 1 && os[2] == 1;
    const std::int64_t row_bytes = heads_.head_dim * static_cast<std::int64_t>(sizeof(T));
    const bool stream = heads_.stream && dense && !in_place_ && row_bytes <= kBufferBytes;
    const std::int64_t together = !stream                             ? 1
                                  : os[inner_axis] == heads_.head_dim ? kBufferBytes / row_bytes
                                                                      : 1;
    alignas(64) std::uint8_t bytes[kBufferBytes];
    T* buffer = reinterpret_cast<T*>(bytes);
    for (std::int64_t o = 0; o < outer; ++o) {
      const T* x = heads_.x + o * xs[outer_axis];
      T* out = heads_.out + o * os[outer_axis];
      for (std::int64_t i = 0; i < inner;) {
        const std::int64_t turn = o * outer_turn + i * inner_turn;
        if (!stream) {
          if (dense) {
            row(x + i * xs[inner_axis], out + i * os[inner_axis], turn);
          } else {
            strided_row(x + i * xs[inner_axis], out + i * os[inner_axis], turn);
          }
          ++i;
          continue;
        }
        const std::int64_t count = std::min(together, inner - i);
        for (std::int64_t j = 0; j < count; ++j) {
          row(x + (i + j) * xs[inner_axis], buffer + j * heads_.head_dim, turn + j * inner_turn);
        }
        stream_bytes(bytes, reinterpret_cast<std::uint8_t*>(out + i * os[inner_axis]),
                     static_cast<std::size_t>(count * row_bytes));
        i += count;
      }
    }
    if (stream) hwy::FlushStream();
  }

 private:
  static constexpr std::int64_t kBufferBytes = 8192;

  TableRow<U> table_row(std::int64_t turn) const {
    return {table_.cos + turn, table_.sin + turn, table_.pairs, table_.inverse ? -0.0F : 0.0F};
  }

  HWY_INLINE void row(const T* x, T* out, std::int64_t turn) const {
    const std::int64_t begin = table_.first_channel;
    const std::int64_t end = begin + 2 * table_.pairs;
    if (!in_place_) {
      std::copy(x, x + begin, out);
      std::copy(x + end, x + heads_.head_dim, out + end);
    }
    turn_span<interleaved>(table_row(turn), x + begin, out + begin);
  }

  HWY_INLINE void strided_row(const T* x, T* out, std::int64_t turn) const {
    const std::int64_t x_step = heads_.x_strides[2];
    const std::int64_t out_step = heads_.out_strides[2];
    const std::int64_t begin = table_.first_channel;
    const std::int64_t end = begin + 2 * table_.pairs;
    for (std::int64_t c = 0; c < begin; ++c) out[c * out_step] = x[c * x_step];
    for (std::int64_t c = end; c < heads_.head_dim; ++c) out[c * out_step] = x[c * x_step];
    const std::int64_t step = interleaved ? 2 : 1;
    const std::int64_t partner = interleaved ? 1 : table_.pairs;
    x += begin * x_step;
    out += begin * out_step;
    turn_singly(table_row(turn), 0, x, x + partner * x_step, step * x_step, out,
                out + partner * out_step, step * out_step);
  }

  const RotatedHeads<T>& heads_;
  const BasicRotationRows<U>& table_;
  bool in_place_;
};

template <class T, class U>
HWY_INLINE void turn(const RotatedHeads<T>& heads, const BasicRotationRows<U>& table) {
  if (table.interleaved) {
    Turner<true, T, U>(heads, table).run();
  } else {
    Turner<false, T, U>(heads, table).run();
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
