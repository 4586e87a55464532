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
#include <cstring>

#include "kernels/stored_rows.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `count` numbers that lie side by side, widened to float32: exact.
template <class T>
HWY_INLINE void widen(const T* from, std::int64_t count, float* to) {
  using Narrow = std::conditional_t<std::is_same_v<T, float16>, hwy::float16_t, hwy::bfloat16_t>;
  const hn::ScalableTag<float> d;
  const hn::Rebind<Narrow, decltype(d)> narrow;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + n <= count; i += n) {
    const auto bits = hn::LoadU(narrow, reinterpret_cast<const Narrow*>(from + i));
    hn::StoreU(hn::PromoteTo(d, bits), d, to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

template <class T>
void load_rows_of(const StoredRows& from, std::int64_t first, std::int64_t rows,
                  std::int64_t channels, float* to) {
  const T* data = static_cast<const T*>(from.data) + first * from.row_stride;
  for (std::int64_t r = 0; r < rows; ++r, data += from.row_stride, to += channels) {
    if (from.channel_stride != 1) {
      for (std::int64_t c = 0; c < channels; ++c) {
        to[c] = static_cast<float>(data[c * from.channel_stride]);
      }
    } else if constexpr (std::is_same_v<T, float>) {
      std::memcpy(to, data, static_cast<std::size_t>(channels) * sizeof(float));
    } else {
      widen(data, channels, to);
    }
  }
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
  }
}

// to[column][row] = finish(from[row][column]), in squares of four; `finish` takes a tag and a
// vector.
template <class Finish>
HWY_INLINE void transpose(const float* from, std::int64_t from_stride, std::int64_t rows,
                          std::int64_t columns, float* to, std::int64_t to_stride,
                          const Finish& finish) {
  const hn::FixedTag<float, 4> d;
  const hn::CappedTag<float, 1> d1;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto one = [&](std::int64_t r, std::int64_t c) HWY_ATTR {
    hn::Store(finish(d1, hn::Load(d1, from + r * from_stride + c)), d1, to + c * to_stride + r);
  };
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* x = from + r * from_stride;
    std::int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      const auto x0 = hn::LoadU(d, x + c), x1 = hn::LoadU(d, x + c + from_stride),
                 x2 = hn::LoadU(d, x + c + 2 * from_stride),
                 x3 = hn::LoadU(d, x + c + 3 * from_stride);
      const auto a = hn::BitCast(wide, hn::InterleaveLower(d, x0, x1));
      const auto b = hn::BitCast(wide, hn::InterleaveLower(d, x2, x3));
      const auto e = hn::BitCast(wide, hn::InterleaveUpper(d, x0, x1));
      const auto f = hn::BitCast(wide, hn::InterleaveUpper(d, x2, x3));
      float* y = to + c * to_stride + r;
      const auto put = [&](auto v, std::int64_t column) HWY_ATTR {
        hn::StoreU(finish(d, hn::BitCast(d, v)), d, y + column * to_stride);
      };
      put(hn::InterleaveLower(wide, a, b), 0);
      put(hn::InterleaveUpper(wide, a, b), 1);
      put(hn::InterleaveLower(wide, e, f), 2);
      put(hn::InterleaveUpper(wide, e, f), 3);
    }
    for (; c < columns; ++c) {
      for (std::int64_t i = 0; i < 4; ++i) one(r + i, c);
    }
  }
  for (; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) one(r, c);
  }
}

// to[column][row] = from[row][column] * factor
HWY_INLINE void transpose_scaled(const float* from, std::int64_t from_stride, std::int64_t rows,
                                 std::int64_t columns, float factor, float* to,
                                 std::int64_t to_stride) {
  transpose(from, from_stride, rows, columns, to, to_stride,
            [factor](auto d, auto x) HWY_ATTR { return hn::Mul(x, hn::Set(d, factor)); });
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
