// The inner loop of decoding's scores, from load to store, with keys in lanes. Included again for
// each instruction set.
//
//   score_tiles:  S[row][key] = sum over channels c of K[key][c] * Q[row][c]
//
// Every sum is one chain of multiply-adds, channels ascending, for any tile: the chains of
// tile-inl.h. Keys are read in their storage type and widened in registers; int8 becomes the
// float32 that it stands for, times the scale of its row.
#if defined(SEXTANT_KERNELS_SCORE_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_SCORE_TILES_INL_H_
#undef SEXTANT_KERNELS_SCORE_TILES_INL_H_
#else
#define SEXTANT_KERNELS_SCORE_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/decode/prefetched_rows.h"
#include "kernels/simd/stored_floats-inl.h"
#include "kernels/simd/tile-inl.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using TileVector = hn::Vec<TileTag>;

// The channels of a 32-bit word of keys. Those of float16 are widened before.
template <class T>
inline constexpr int kWordChannels = 1;
template <>
inline constexpr int kWordChannels<bfloat16> = 2;
template <>
inline constexpr int kWordChannels<std::int8_t> = 4;

// As many words as D has lanes.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_words(D d, const T* p) {
  if constexpr (1 < kWordChannels<T>) {
    return hn::LoadU(d, reinterpret_cast<const float*>(p));
  } else {
    return load_floats(d, p);
  }
}

// In each 128 bits the 4 x 4 numbers of x0 .. x3 transposed.
HWY_INLINE void transpose_quads(TileVector& x0, TileVector& x1, TileVector& x2, TileVector& x3) {
  const TileTag d;
  const hn::RepartitionToWide<TileTag> wide;
  const auto a = hn::BitCast(wide, hn::InterleaveLower(d, x0, x1));
  const auto b = hn::BitCast(wide, hn::InterleaveLower(d, x2, x3));
  const auto e = hn::BitCast(wide, hn::InterleaveUpper(d, x0, x1));
  const auto f = hn::BitCast(wide, hn::InterleaveUpper(d, x2, x3));
  x0 = hn::BitCast(d, hn::InterleaveLower(wide, a, b));
  x1 = hn::BitCast(d, hn::InterleaveUpper(wide, a, b));
  x2 = hn::BitCast(d, hn::InterleaveLower(wide, e, f));
  x3 = hn::BitCast(d, hn::InterleaveUpper(wide, e, f));
}

// Word w of kSimdWidth keys, `stride` elements apart, as vector w; those from kWords on stay.
template <class T>
HWY_INLINE void transpose_keys(const T* p, std::ptrdiff_t stride, TileVector& w0, TileVector& w1,
                               TileVector& w2, TileVector& w3, TileVector& w4, TileVector& w5,
                               TileVector& w6, TileVector& w7) {
  const TileTag d;
#if SEXTANT_AVX512
  // Vector i of the first four: keys i and 4 + i, 8 words each; of the others 8 + i and 12 + i.
  const hn::Half<TileTag> half;
  const auto pair = [&](const T* at) HWY_ATTR {
    return hn::Combine(d, load_words(half, at + 4 * stride), load_words(half, at));
  };
  const T* p8 = p + 8 * stride;
  TileVector a0 = pair(p), a1 = pair(p + stride), a2 = pair(p + 2 * stride),
             a3 = pair(p + 3 * stride);
  TileVector b0 = pair(p8), b1 = pair(p8 + stride), b2 = pair(p8 + 2 * stride),
             b3 = pair(p8 + 3 * stride);
  transpose_quads(a0, a1, a2,
                  a3);  // word i of keys 0-3, word 4 + i of them, word i of keys 4-7, ...
  transpose_quads(b0, b1, b2, b3);
  constexpr int kEven = 0x88, kOdd = 0xdd;  // the 128 bits 0 and 2, or 1 and 3, of each
  w0 = TileVector{_mm512_shuffle_f32x4(a0.raw, b0.raw, kEven)};
  w1 = TileVector{_mm512_shuffle_f32x4(a1.raw, b1.raw, kEven)};
  w2 = TileVector{_mm512_shuffle_f32x4(a2.raw, b2.raw, kEven)};
  w3 = TileVector{_mm512_shuffle_f32x4(a3.raw, b3.raw, kEven)};
  w4 = TileVector{_mm512_shuffle_f32x4(a0.raw, b0.raw, kOdd)};
  w5 = TileVector{_mm512_shuffle_f32x4(a1.raw, b1.raw, kOdd)};
  w6 = TileVector{_mm512_shuffle_f32x4(a2.raw, b2.raw, kOdd)};
  w7 = TileVector{_mm512_shuffle_f32x4(a3.raw, b3.raw, kOdd)};
#else
#if SEXTANT_TILE_LANES == 8
  // Vector i: keys i and 4 + i, 4 words each.
  const hn::Half<TileTag> half;
  const auto load = [&](const T* at) HWY_ATTR {
    return hn::Combine(d, load_words(half, at + 4 * stride), load_words(half, at));
  };
#else
  const auto load = [&](const T* at) HWY_ATTR { return load_words(d, at); };
#endif
  w0 = load(p), w1 = load(p + stride), w2 = load(p + 2 * stride), w3 = load(p + 3 * stride);
  transpose_quads(w0, w1, w2, w3);
  static_cast<void>(w4), static_cast<void>(w5), static_cast<void>(w6), static_cast<void>(w7);
#endif
}

// Channel C of words; `scale` is that of each lane's key.
template <class T, int C>
HWY_INLINE TileVector channel_of(TileVector words, [[maybe_unused]] TileVector scale) {
  const TileTag d;
  if constexpr (std::is_same_v<T, bfloat16>) {
    const hn::RebindToUnsigned<TileTag> du;
    const auto bits = hn::BitCast(du, words);
    return hn::BitCast(d,
                       C == 0 ? hn::ShiftLeft<16>(bits) : hn::And(bits, hn::Set(du, 0xffff0000U)));
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    const hn::RebindToSigned<TileTag> di;
    const auto highest = hn::ShiftLeft<24 - 8 * C>(hn::BitCast(di, words));
    return hn::Mul(hn::ConvertTo(d, hn::ShiftRight<24>(highest)), scale);
  } else {
    return words;
  }
}

// The scales of kSimdWidth keys.
template <class T>
HWY_INLINE TileVector key_scales(const T* k, std::ptrdiff_t stride) {
  const TileTag d;
  if constexpr (std::is_same_v<T, std::int8_t>) {
    alignas(64) float scales[kSimdWidth];
    for (int key = 0; key < kSimdWidth; ++key) scales[key] = row_scale(k + key * stride);
    return hn::Load(d, scales);
  } else {
    return hn::Zero(d);
  }
}

template <class T>
struct ScoreOperands {
  const T* k;
  std::ptrdiff_t k_row;
  const float* q;         // [channels][rows of the tile]
  std::int64_t channels;  // a multiple of 16
  float* s;
  std::ptrdiff_t s_row;
  Ahead<T> ahead{};
};

#define SEXTANT_EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define SEXTANT_EACH_WORD(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

// Scores of R rows with the keys of one or two squares. Named variables for the reason given in
// tile-inl.h.
template <class T, int R, bool kTwo>
HWY_INLINE void score_tile(const ScoreOperands<T>& o) {
  const TileTag d;
#define SEXTANT_START(r) auto a##r = hn::Zero(d), b##r = hn::Zero(d);
  SEXTANT_EACH_ROW(SEXTANT_START)
#undef SEXTANT_START
  auto x0 = hn::Zero(d), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0;
  auto y0 = x0, y1 = x0, y2 = x0, y3 = x0, y4 = x0, y5 = x0, y6 = x0, y7 = x0;

  constexpr int kChannels = kWordChannels<T> * kWords;
  const T* k = o.k;
  const float* q = o.q;
  // One step's bytes, in the order of memory where keys are contiguous.
  constexpr std::ptrdiff_t kStepBytes = kChannels * sizeof(T);
  constexpr std::ptrdiff_t kKeys = (kTwo ? 2 : 1) * kSimdWidth;
  auto end = reinterpret_cast<std::uintptr_t>(o.ahead.end);
  constexpr std::ptrdiff_t kHead = std::is_same_v<T, std::int8_t> ? kScaleBytes : 0;
  const bool dense = o.k_row == o.channels + kHead;
  const auto x_scale = key_scales(k, o.k_row);
  [[maybe_unused]] auto y_scale = x_scale;
  if constexpr (kTwo) y_scale = key_scales(k + kSimdWidth * o.k_row, o.k_row);
  std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(k) +
                         (dense ? kDecodePrefetchBytes : kKeys * o.k_row * sizeof(T));
  if (ahead >= end && o.ahead.next != nullptr) {
    ahead = reinterpret_cast<std::uintptr_t>(o.ahead.next) + (ahead - end);
    end = ~std::uintptr_t{0};
  }
  for (std::int64_t c = 0; c < o.channels; c += kChannels, k += kChannels, q += kChannels * R) {
    if (ahead < end) {
      if (dense) {
        const std::ptrdiff_t bytes = kKeys * (kStepBytes + (c == 0 ? kHead : 0));
        for (std::ptrdiff_t n = 0; n < bytes; n += kLineBytes) prefetch_l1(ahead + n);
        ahead += bytes;
      } else if (c % (kLineBytes / static_cast<std::ptrdiff_t>(sizeof(T))) == 0) {
        for (std::ptrdiff_t n = 0; n < kKeys; ++n) {
          prefetch_l1(ahead + (c + n * o.k_row) * sizeof(T));
        }
      }
    }
    transpose_keys(k, o.k_row, x0, x1, x2, x3, x4, x5, x6, x7);
    if constexpr (kTwo) {
      transpose_keys(k + kSimdWidth * o.k_row, o.k_row, y0, y1, y2, y3, y4, y5, y6, y7);
    }
#define SEXTANT_ROW(r)                                      \
  if constexpr (R > r) {                                    \
    const auto factor = hn::Set(d, from_q[r]);              \
    a##r = hn::MulAdd(x, factor, a##r);                     \
    if constexpr (kTwo) b##r = hn::MulAdd(y, factor, b##r); \
  }
#define SEXTANT_CHANNEL(w, c)                                 \
  if constexpr (kWords > w && c < kWordChannels<T>) {         \
    const float* from_q = q + (kWordChannels<T> * w + c) * R; \
    const auto x = channel_of<T, c>(x##w, x_scale);           \
    const auto y = channel_of<T, c>(y##w, y_scale);           \
    SEXTANT_EACH_ROW(SEXTANT_ROW)                             \
    static_cast<void>(y);                                     \
  }
#define SEXTANT_WORD(w) \
  SEXTANT_CHANNEL(w, 0) \
  SEXTANT_CHANNEL(w, 1) SEXTANT_CHANNEL(w, 2) SEXTANT_CHANNEL(w, 3)
    SEXTANT_EACH_WORD(SEXTANT_WORD)
#undef SEXTANT_WORD
#undef SEXTANT_CHANNEL
#undef SEXTANT_ROW
  }

#define SEXTANT_FINISH(r)                                                    \
  if constexpr (R > r) {                                                     \
    hn::StoreU(a##r, d, o.s + r * o.s_row);                                  \
    if constexpr (kTwo) hn::StoreU(b##r, d, o.s + r * o.s_row + kSimdWidth); \
  }                                                                          \
  static_cast<void>(a##r), static_cast<void>(b##r);
  SEXTANT_EACH_ROW(SEXTANT_FINISH)
#undef SEXTANT_FINISH
}

template <class T, int R>
HWY_NOINLINE void score_tiles_of(std::int64_t keys, ScoreOperands<T> o) {
  constexpr bool kTwo = max_squares(R) == 2;
  constexpr int kKeys = kTwo ? 2 * kSimdWidth : kSimdWidth;
  for (; keys >= kKeys; keys -= kKeys, o.k += kKeys * o.k_row, o.s += kKeys) {
    score_tile<T, R, kTwo>(o);
  }
  if constexpr (kTwo) {
    if (keys > 0) score_tile<T, R, false>(o);
  }
}

// Scores of 1, 2, 4 or 8 rows with `keys` keys, a multiple of kQueryGroup.
template <class T>
HWY_INLINE void score_tiles(int rows, std::int64_t keys, const ScoreOperands<T>& o) {
  switch (rows) {
    case 1:
      return score_tiles_of<T, 1>(keys, o);
    case 2:
      return score_tiles_of<T, 2>(keys, o);
    case 4:
      return score_tiles_of<T, 4>(keys, o);
    default:
      return score_tiles_of<T, 8>(keys, o);
  }
}

#undef SEXTANT_EACH_ROW
#undef SEXTANT_EACH_WORD

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
