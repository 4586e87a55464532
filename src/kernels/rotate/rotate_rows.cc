// Rotates pairs of channels (RoPE, Su et al. 2021, equation 34); the arithmetic is in the header.
// Memory bandwidth is the limit, so rows are read once and written once: a few heads are rotated
// together, which shares the loads of the table's row and gives several streams of reads; lines are
// prefetched, because hardware prefetchers stop at the end of a page; and results too large for the
// caches use non-temporal stores, which do not read the overwritten lines.
#include "kernels/rotate/rotate_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate/rotate_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "kernels/rotate/rotate_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// Heads per pass where heads are apart: in place, one and four were 25 % slower.
inline constexpr std::int64_t kHeadsPerPass = 2;

// Whether heads are closer in memory than rows.
template <class T>
HWY_INLINE bool heads_inside(const RotatedHeads<T>& all) {
  return std::abs(all.out_strides[0]) < std::abs(all.out_strides[1]);
}

// Whether all stores are aligned to cache lines of 64 bytes.
template <class T, class U>
HWY_INLINE bool can_stream(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
  return reinterpret_cast<std::uintptr_t>(all.out) % 64 == 0 && all.out_strides[0] % kLine == 0 &&
         all.out_strides[1] % kLine == 0 && table.first_channel % kLine == 0 &&
         table.pairs % kLine == 0 && all.head_dim % kLine == 0;
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
HWY_INLINE void rotate_contiguous(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  const std::int64_t begin = table.first_channel;
  const std::int64_t end = begin + 2 * table.pairs;
  const bool copies = all.x != all.out && 2 * table.pairs != all.head_dim;
  const auto rotate_group = [&](std::int64_t h, std::int64_t n, std::int64_t count) HWY_ATTR {
    HeadRows<T> rows{all.x + h * all.x_strides[0] + n * all.x_strides[1],
                     all.out + h * all.out_strides[0] + n * all.out_strides[1],
                     std::min(count, all.heads - h), all.x_strides[0], all.out_strides[0]};
    for (std::int64_t i = 0; copies && i < rows.heads; ++i) {
      copy_channels<stream>(rows.x + i * rows.x_head, rows.out + i * rows.out_head, 0, begin);
      copy_channels<stream>(rows.x + i * rows.x_head, rows.out + i * rows.out_head, end,
                            all.head_dim);
    }
    rows.x += begin;
    rows.out += begin;
    rotate_spans<interleaved, stream>(row_of(table, n), rows);
  };
  if (heads_inside(all)) {
    for (std::int64_t n = 0; n < all.rows; ++n) {
      for (std::int64_t h = 0; h < all.heads; ++h) rotate_group(h, n, 1);
    }
  } else {
    for (std::int64_t h = 0; h < all.heads; h += kHeadsPerPass) {
      for (std::int64_t n = 0; n < all.rows; ++n) rotate_group(h, n, kHeadsPerPass);
    }
  }
  if (stream) hwy::FlushStream();
}

// Channels that are not contiguous.
template <class T, class U>
HWY_INLINE void rotate_strided(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
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
      rotate_scalar(row_of(table, n), 0, x, x + partner * x_step, step * x_step, out,
                    out + partner * out_step, step * out_step);
    }
  }
}

template <bool interleaved, class T, class U>
HWY_INLINE void rotate_layout(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  if (all.stream && can_stream(all, table)) {
    rotate_contiguous<interleaved, true>(all, table);
  } else {
    rotate_contiguous<interleaved, false>(all, table);
  }
}

template <class T, class U>
HWY_INLINE void rotate_any(const RotatedHeads<T>& all, const BasicRotationRows<U>& table) {
  if (all.head_dim == 0) return;  // arrays may be null
  if (all.x_strides[2] != 1 || all.out_strides[2] != 1) {
    rotate_strided(all, table);
  } else if (table.interleaved) {
    rotate_layout<true>(all, table);
  } else {
    rotate_layout<false>(all, table);
  }
}

void rotate_float(const RotatedHeads<float>& heads, const BasicRotationRows<float>& table) {
  rotate_any(heads, table);
}
void rotate_bfloat(const RotatedHeads<bfloat16>& heads, const BasicRotationRows<float>& table) {
  rotate_any(heads, table);
}
void rotate_bfloat_by_bfloat(const RotatedHeads<bfloat16>& heads,
                             const BasicRotationRows<bfloat16>& table) {
  rotate_any(heads, table);
}
void rotate_half(const RotatedHeads<float16>& heads, const BasicRotationRows<float>& table) {
  rotate_any(heads, table);
}
void rotate_half_by_half(const RotatedHeads<float16>& heads,
                         const BasicRotationRows<float16>& table) {
  rotate_any(heads, table);
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(rotate_float);
HWY_EXPORT(rotate_bfloat);
HWY_EXPORT(rotate_bfloat_by_bfloat);
HWY_EXPORT(rotate_half);
HWY_EXPORT(rotate_half_by_half);

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
  HWY_DYNAMIC_DISPATCH(rotate_bfloat_by_bfloat)(heads, table);
}
void rotate_heads(const RotatedHeads<float16>& heads,
                  const BasicRotationRows<float>& table) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(rotate_half)(heads, table);
}
void rotate_heads(const RotatedHeads<float16>& heads,
                  const BasicRotationRows<float16>& table) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(rotate_half_by_half)(heads, table);
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

}  // namespace sextant::kernels
#endif  // HWY_ONCE
