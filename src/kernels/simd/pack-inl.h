// Rows of any storage as float32 rows, and rows as lanes and back. Included again for each
// instruction set.
#if defined(SEXTANT_KERNELS_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_PACK_INL_H_
#undef SEXTANT_KERNELS_PACK_INL_H_
#else
#define SEXTANT_KERNELS_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "kernels/simd/stored_floats-inl.h"
#include "kernels/simd/stored_rows.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `count` contiguous numbers as float32: exact.
template <class T>
HWY_INLINE void widen(const T* from, std::int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + n <= count; i += n) hn::StoreU(load_floats(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

// The same for a row of int8, times its scale.
HWY_INLINE void widen(const std::int8_t* from, std::int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  const float scale = row_scale(from);
  std::int64_t i = 0;
  for (; i + n <= count; i += n) {
    hn::StoreU(hn::Mul(load_floats(d, from + i), hn::Set(d, scale)), d, to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]) * scale;
}

// The inverse of the first: each rounded once.
template <class T>
HWY_INLINE void store_row(const float* from, std::int64_t count, T* to, std::int64_t stride) {
  const hn::ScalableTag<float> d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; stride == 1 && i + n <= count; i += n) store_rounded(hn::LoadU(d, from + i), d, to + i);
  for (; i < count; ++i) to[i * stride] = static_cast<T>(from[i]);
}

// Calls use(width), with common head widths as constants, so that the few vectors of a row are
// unrolled.
template <class Use>
HWY_INLINE void with_width(std::int64_t width, const Use& use) {
  switch (width) {
    case 32:
      return use(std::integral_constant<std::int64_t, 32>());
    case 64:
      return use(std::integral_constant<std::int64_t, 64>());
    case 128:
      return use(std::integral_constant<std::int64_t, 128>());
    default:
      return use(width);
  }
}

template <class T>
void load_rows_of(const StoredRows& from, std::int64_t first, std::int64_t rows,
                  std::int64_t channels, float* to) {
  const T* data = static_cast<const T*>(from.data) + first * from.row_stride;
  if (from.channel_stride != 1) {
    for (std::int64_t r = 0; r < rows; ++r, data += from.row_stride, to += channels) {
      for (std::int64_t c = 0; c < channels; ++c) {
        to[c] = static_cast<float>(data[c * from.channel_stride]);
      }
    }
    return;
  }
  with_width(channels, [=, stride = from.row_stride](auto width) HWY_ATTR {
    const T* row = data;
    float* out = to;
    for (std::int64_t r = 0; r < rows; ++r, row += stride, out += width) {
      prefetch_row(row, kPrefetchRows * stride, width);
      widen(row, width, out);
    }
  });
}

// Prefetches rows that will be read in place.
HWY_INLINE void prefetch_rows(const float* rows, std::int64_t stride, std::int64_t count,
                              std::int64_t channels) {
  if (stride == channels) return;
  with_width(channels, [=](auto width) HWY_ATTR {
    for (std::int64_t i = 0; i < count; ++i) prefetch_row(rows, i * stride, width);
  });
}

// Rows [first, first + rows) as contiguous float32 rows of `channels`.
HWY_INLINE void load_rows(const StoredRows& from, std::int64_t first, std::int64_t rows,
                          std::int64_t channels, float* to) {
  switch (from.storage) {
    case Storage::float32:
      return load_rows_of<float>(from, first, rows, channels, to);
    case Storage::float16:
      return load_rows_of<float16>(from, first, rows, channels, to);
    case Storage::bfloat16:
      return load_rows_of<bfloat16>(from, first, rows, channels, to);
    case Storage::int8:
      return load_rows_of<std::int8_t>(from, first, rows, channels, to);
  }
}

// to[column][row] = finish(from[row][column]); `finish` takes a tag and a vector; 16-bit numbers
// are widened. Square by square: of four each way, in one 128-bit block per row.
template <class T, class Finish>
HWY_INLINE void transpose_4x4(const T* from, std::int64_t from_stride, float* to,
                              std::int64_t to_stride, const Finish& finish) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto x0 = load_floats(d, from), x1 = load_floats(d, from + from_stride),
             x2 = load_floats(d, from + 2 * from_stride),
             x3 = load_floats(d, from + 3 * from_stride);
  const auto a = hn::BitCast(wide, hn::InterleaveLower(d, x0, x1));
  const auto b = hn::BitCast(wide, hn::InterleaveLower(d, x2, x3));
  const auto e = hn::BitCast(wide, hn::InterleaveUpper(d, x0, x1));
  const auto f = hn::BitCast(wide, hn::InterleaveUpper(d, x2, x3));
  const auto put = [&](auto v, std::int64_t column) HWY_ATTR {
    hn::StoreU(finish(d, hn::BitCast(d, v)), d, to + column * to_stride);
  };
  put(hn::InterleaveLower(wide, a, b), 0);
  put(hn::InterleaveUpper(wide, a, b), 1);
  put(hn::InterleaveLower(wide, e, f), 2);
  put(hn::InterleaveUpper(wide, e, f), 3);
}

#if SEXTANT_AVX512
// Four rows of sixteen to four vectors whose 128-bit block b is column 4 b + i of the four rows.
template <class T>
HWY_INLINE void transpose_blocks(const T* from, std::int64_t stride, __m512& y0, __m512& y1,
                                 __m512& y2, __m512& y3) {
  const hn::FixedTag<float, 16> d;
  const __m512 x0 = load_floats(d, from).raw, x1 = load_floats(d, from + stride).raw,
               x2 = load_floats(d, from + 2 * stride).raw,
               x3 = load_floats(d, from + 3 * stride).raw;
  const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(x0, x1));
  const __m512d b = _mm512_castps_pd(_mm512_unpacklo_ps(x2, x3));
  const __m512d e = _mm512_castps_pd(_mm512_unpackhi_ps(x0, x1));
  const __m512d f = _mm512_castps_pd(_mm512_unpackhi_ps(x2, x3));
  y0 = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
  y1 = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
  y2 = _mm512_castpd_ps(_mm512_unpacklo_pd(e, f));
  y3 = _mm512_castpd_ps(_mm512_unpackhi_pd(e, f));
}

// A square of sixteen: the same within blocks, then blocks as the squares of four they are.
template <class T, class Finish>
HWY_INLINE void transpose_16x16(const T* from, std::int64_t from_stride, float* to,
                                std::int64_t to_stride, const Finish& finish) {
  const hn::FixedTag<float, 16> d;
  __m512 a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, e0, e1, e2, e3;
  transpose_blocks(from, from_stride, a0, a1, a2, a3);
  transpose_blocks(from + 4 * from_stride, from_stride, b0, b1, b2, b3);
  transpose_blocks(from + 8 * from_stride, from_stride, c0, c1, c2, c3);
  transpose_blocks(from + 12 * from_stride, from_stride, e0, e1, e2, e3);
  const auto put = [&](__m512 a, __m512 b, __m512 c, __m512 e, std::int64_t i) HWY_ATTR {
    const __m512 ab_low = _mm512_shuffle_f32x4(a, b, 0x44),
                 ab_high = _mm512_shuffle_f32x4(a, b, 0xEE);
    const __m512 ce_low = _mm512_shuffle_f32x4(c, e, 0x44),
                 ce_high = _mm512_shuffle_f32x4(c, e, 0xEE);
    float* y = to + i * to_stride;
    const auto store = [&](__m512 v, std::int64_t column) HWY_ATTR {
      hn::StoreU(finish(d, hn::Vec<decltype(d)>{v}), d, y + column * to_stride);
    };
    store(_mm512_shuffle_f32x4(ab_low, ce_low, 0x88), 0);
    store(_mm512_shuffle_f32x4(ab_low, ce_low, 0xDD), 4);
    store(_mm512_shuffle_f32x4(ab_high, ce_high, 0x88), 8);
    store(_mm512_shuffle_f32x4(ab_high, ce_high, 0xDD), 12);
  };
  put(a0, b0, c0, e0, 0);
  put(a1, b1, c1, e1, 1);
  put(a2, b2, c2, e2, 2);
  put(a3, b3, c3, e3, 3);
}
#endif

// The rest outside whole squares, one number at a time.
template <class T, class Finish>
HWY_INLINE void transpose_rest(const T* from, std::int64_t from_stride, std::int64_t rows,
                               std::int64_t first_column, std::int64_t columns, float* to,
                               std::int64_t to_stride, const Finish& finish) {
  const hn::CappedTag<float, 1> d;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = first_column; c < columns; ++c) {
      const auto x = hn::Set(d, static_cast<float>(from[r * from_stride + c]));
      hn::Store(finish(d, x), d, to + c * to_stride + r);
    }
  }
}

template <class T, class Finish>
HWY_INLINE void transpose(const T* from, std::int64_t from_stride, std::int64_t rows,
                          std::int64_t columns, float* to, std::int64_t to_stride,
                          const Finish& finish) {
  std::int64_t r = 0;
  for (; r + kSquareSide <= rows; r += kSquareSide) {
    std::int64_t c = 0;
    const T* x = from + r * from_stride;
    float* y = to + r;
#if SEXTANT_AVX512
    for (; c + 16 <= columns; c += 16) {
      transpose_16x16(x + c, from_stride, y + c * to_stride, to_stride, finish);
    }
#endif
    for (; c + 4 <= columns; c += 4) {
      for (std::int64_t i = 0; i < kSquareSide; i += 4) {
        transpose_4x4(x + i * from_stride + c, from_stride, y + c * to_stride + i, to_stride,
                      finish);
      }
    }
    transpose_rest(x, from_stride, kSquareSide, c, columns, y, to_stride, finish);
  }
  for (; r + 4 <= rows; r += 4) {
    std::int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      transpose_4x4(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride,
                    finish);
    }
    transpose_rest(from + r * from_stride, from_stride, 4, c, columns, to + r, to_stride, finish);
  }
  transpose_rest(from + r * from_stride, from_stride, rows - r, 0, columns, to + r, to_stride,
                 finish);
}

// to[column][row] = from[row][column] * factor
HWY_INLINE void transpose_scaled(const float* from, std::int64_t from_stride, std::int64_t rows,
                                 std::int64_t columns, float factor, float* to,
                                 std::int64_t to_stride) {
  transpose(from, from_stride, rows, columns, to, to_stride,
            [factor](auto d, auto x) HWY_ATTR { return hn::Mul(x, hn::Set(d, factor)); });
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
