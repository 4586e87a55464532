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

// The same address, of which the compiler does not know that it is.
HWY_INLINE const float* opaque(const float* p) {
  asm("" : "+r"(p));
  return p;
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

// From the first channel of a key to that of the next one, where keys lie one behind the other.
template <class T>
constexpr std::int64_t dense_stride(std::int64_t channels) {
  return channels + (std::is_same_v<T, std::int8_t> ? kScaleBytes : 0);
}

template <class T>
struct ScoreOperands {
  const T* k;             // one behind the other
  const float* q;         // [channels][rows of the tile]
  std::int64_t channels;  // a multiple of 16
  float* s;
  std::ptrdiff_t s_row;
  PlaceAhead far{}, near{};  // for the L2 and the L1 cache
};

#define SEXTANT_EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define SEXTANT_EACH_WORD(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

// Adds the products with the words of one square, from its first key, to the R sums `sum`0 ...
#define SEXTANT_CHANNEL(w, c, sum, scale)                     \
  if constexpr (kWords > w && c < kWordChannels<T>) {         \
    const float* from_q = q + (kWordChannels<T> * w + c) * R; \
    const auto x = channel_of<T, c>(x##w, scale);             \
    SEXTANT_EACH_ROW(sum)                                     \
  }
#define SEXTANT_CHANNELS(w, sum, scale) \
  SEXTANT_CHANNEL(w, 0, sum, scale)     \
  SEXTANT_CHANNEL(w, 1, sum, scale)     \
  SEXTANT_CHANNEL(w, 2, sum, scale) SEXTANT_CHANNEL(w, 3, sum, scale)

// Scores of R rows with the keys of one or two squares. Named variables for the reason given in
// tile-inl.h.
template <class T, int R, bool kTwo>
HWY_INLINE void score_tile(ScoreOperands<T>& o) {
  const TileTag d;
#define SEXTANT_START(r) auto a##r = hn::Zero(d), b##r = hn::Zero(d);
  SEXTANT_EACH_ROW(SEXTANT_START)
#undef SEXTANT_START
  auto x0 = hn::Zero(d), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0;

  constexpr int kChannels = kWordChannels<T> * kWords;
  const std::ptrdiff_t row = dense_stride<T>(o.channels);
  const T* k = o.k;
  const float* q = o.q;
  const auto a_scale = key_scales(k, row);
  [[maybe_unused]] auto b_scale = a_scale;
  if constexpr (kTwo) b_scale = key_scales(k + kSimdWidth * row, row);
  for (std::int64_t c = 0; c < o.channels; c += kChannels, k += kChannels, q += kChannels * R) {
    // A step's bytes, in the order of memory.
    const std::ptrdiff_t bytes = (kTwo ? 2 : 1) * kSimdWidth *
                                 (kChannels + (c == 0 ? dense_stride<T>(0) : 0)) *
                                 static_cast<std::ptrdiff_t>(sizeof(T));
    o.far.template take<2>(bytes);
    o.near.template take<1>(bytes);
    transpose_keys(k, row, x0, x1, x2, x3, x4, x5, x6, x7);
#define SEXTANT_ROW(r) \
  if constexpr (R > r) a##r = hn::MulAdd(x, hn::Set(d, from_q[r]), a##r);
#define SEXTANT_WORD(w) SEXTANT_CHANNELS(w, SEXTANT_ROW, a_scale)
    SEXTANT_EACH_WORD(SEXTANT_WORD)
#undef SEXTANT_ROW
#undef SEXTANT_WORD
    if constexpr (kTwo) {
      // Numbers of q are read again, as operands of multiply-adds: kept in registers for the second
      // square, they leave too few for processors to begin its transposition meanwhile.
      q = opaque(q);
      transpose_keys(k + kSimdWidth * row, row, x0, x1, x2, x3, x4, x5, x6, x7);
#define SEXTANT_ROW(r) \
  if constexpr (R > r) b##r = hn::MulAdd(x, hn::Set(d, from_q[r]), b##r);
#define SEXTANT_WORD(w) SEXTANT_CHANNELS(w, SEXTANT_ROW, b_scale)
      SEXTANT_EACH_WORD(SEXTANT_WORD)
#undef SEXTANT_ROW
#undef SEXTANT_WORD
    }
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
  for (; keys >= kKeys; keys -= kKeys, o.k += kKeys * dense_stride<T>(o.channels), o.s += kKeys) {
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

#undef SEXTANT_CHANNELS
#undef SEXTANT_CHANNEL
#undef SEXTANT_EACH_ROW
#undef SEXTANT_EACH_WORD

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
