// The inner loop of decoding's outputs, from load to store, with channels in lanes. Included again
// for each instruction set.
//
//   value_tiles:  O[row][channel] += sum over keys j of P[row][j] * V[j][channel]
//                 l[row] += sum over keys j of P[row][j]
//
// Every sum is one chain of multiply-adds, keys ascending, for any tile: the chains of
// tile-inl.h. Values are read in their storage type and widened in registers; int8 becomes the
// float32 that it stands for, times the scale of its row.
#if defined(SEXTANT_KERNELS_VALUE_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_VALUE_TILES_INL_H_
#undef SEXTANT_KERNELS_VALUE_TILES_INL_H_
#else
#define SEXTANT_KERNELS_VALUE_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention/geometry.h"
#include "kernels/decode/prefetched_rows.h"
#include "kernels/simd/stored_floats-inl.h"
#include "kernels/simd/tile-inl.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct ValueOperands {
  const T* v;
  std::ptrdiff_t v_channel;  // from the first channel of a row to that at v
  std::ptrdiff_t v_row;
  const float* p;
  std::ptrdiff_t p_row;
  float* o;
  std::ptrdiff_t o_row;  // of part too
  float* sum;            // l of each row, or null: computed elsewhere
  // The chains of a block of keys between the calls for its keys; at the end they are added to o
  // and sum.
  float *part, *part_sum;
  bool begins = true, ends = true;  // the block, with these keys
  // Prefetches v_far and v_near rows ahead, for the L2 and the L1 cache, as long as the v_left
  // remaining rows last, then, if there is a next page, v_jump bytes further; v_left 0: the caller
  // prefetches.
  std::int64_t v_far = 0, v_near = 0, v_left = 0;
  std::ptrdiff_t v_jump = 0;
};

// Contiguous channels of a value; `scale` is its row's.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_value(D d, const T* p, [[maybe_unused]] float scale) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return hn::Mul(load_floats(d, p), hn::Set(d, scale));
  } else {
    return load_floats(d, p);
  }
}
// The scale of the row whose channel `channel` is at v.
template <class T>
HWY_INLINE float value_scale(const T* v, std::ptrdiff_t channel) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return row_scale(v - channel);
  } else {
    return 1;
  }
}

// Vectors of 0, for chains that begin.
alignas(64) constexpr float kZeros[kValueVectors * kSimdWidth] = {};

// O of R rows and V vectors of channels over `keys` keys; V = 0: l alone.
template <class T, int R, int V, bool kSum>
HWY_INLINE void value_tile(const ValueOperands<T>& o, std::int64_t keys) {
  const TileTag d;
  constexpr std::ptrdiff_t n = kSimdWidth;
  const float* from = o.begins ? kZeros : o.part;
  const std::ptrdiff_t from_row = o.begins ? 0 : o.o_row;
  const auto start = [&](int row, int v) HWY_ATTR {
    return row < R && v < V ? hn::LoadU(d, from + row * from_row + v * n) : hn::Zero(d);
  };
#define SEXTANT_FOURS(DO) DO(0) DO(1) DO(2) DO(3)
#define SEXTANT_START(r)                                                                           \
  auto c##r##0 = start(r, 0), c##r##1 = start(r, 1), c##r##2 = start(r, 2), c##r##3 = start(r, 3), \
       l##r = kSum && R > r && !o.begins ? hn::Set(d, o.part_sum[r]) : hn::Zero(d);
  SEXTANT_FOURS(SEXTANT_START)
#undef SEXTANT_START
  const T* v = o.v;
  const float* p = o.p;
  constexpr std::ptrdiff_t kBytes = V * n * sizeof(T);
  const std::int64_t far_keys = o.v_left - o.v_far, near_keys = o.v_left - o.v_near;
  const std::ptrdiff_t far = o.v_far * o.v_row * static_cast<std::ptrdiff_t>(sizeof(T)),
                       near = o.v_near * o.v_row * static_cast<std::ptrdiff_t>(sizeof(T));
  for (std::int64_t key = 0; key < keys; ++key, v += o.v_row, ++p) {
    const auto at = reinterpret_cast<std::uintptr_t>(v);
    if (key < far_keys || o.v_jump != 0) {
      prefetch_lines<2>(at + (key < far_keys ? far : far + o.v_jump), kBytes);
    }
    if (key < near_keys || o.v_jump != 0) {
      prefetch_lines<1>(at + (key < near_keys ? near : near + o.v_jump), kBytes);
    }
    const float scale = V > 0 ? value_scale(v, o.v_channel) : 0;
    const auto v0 = V > 0 ? load_value(d, v, scale) : hn::Zero(d);
    const auto v1 = V > 1 ? load_value(d, v + n, scale) : v0;
    const auto v2 = V > 2 ? load_value(d, v + 2 * n, scale) : v0;
    const auto v3 = V > 3 ? load_value(d, v + 3 * n, scale) : v0;
#define SEXTANT_ROW(r)                                         \
  if constexpr (R > r) {                                       \
    const auto x = hn::Set(d, p[r * o.p_row]);                 \
    if constexpr (kSum) l##r = hn::Add(l##r, x);               \
    if constexpr (V > 0) c##r##0 = hn::MulAdd(v0, x, c##r##0); \
    if constexpr (V > 1) c##r##1 = hn::MulAdd(v1, x, c##r##1); \
    if constexpr (V > 2) c##r##2 = hn::MulAdd(v2, x, c##r##2); \
    if constexpr (V > 3) c##r##3 = hn::MulAdd(v3, x, c##r##3); \
  }
    SEXTANT_FOURS(SEXTANT_ROW)
#undef SEXTANT_ROW
    static_cast<void>(v0), static_cast<void>(v1), static_cast<void>(v2), static_cast<void>(v3);
  }
#define SEXTANT_FINISH(r)      \
  SEXTANT_FINISH_ONE(r, 0)     \
  SEXTANT_FINISH_ONE(r, 1)     \
  SEXTANT_FINISH_ONE(r, 2)     \
  SEXTANT_FINISH_ONE(r, 3)     \
  if constexpr (kSum && R > r) \
    o.ends ? o.sum[r] += hn::GetLane(l##r) : o.part_sum[r] = hn::GetLane(l##r);
  if (o.ends) {  // NOLINT(bugprone-branch-clone): two macros of one name
#define SEXTANT_FINISH_ONE(r, v)                           \
  if constexpr (R > r && V > v) {                          \
    float* at = o.o + r * o.o_row + v * n;                 \
    hn::StoreU(hn::Add(hn::LoadU(d, at), c##r##v), d, at); \
  }
    SEXTANT_FOURS(SEXTANT_FINISH)
#undef SEXTANT_FINISH_ONE
  } else {
#define SEXTANT_FINISH_ONE(r, v) \
  if constexpr (R > r && V > v) hn::StoreU(c##r##v, d, o.part + r * o.o_row + v * n);
    SEXTANT_FOURS(SEXTANT_FINISH)
#undef SEXTANT_FINISH_ONE
  }
#undef SEXTANT_FINISH
#define SEXTANT_UNUSED(r)                                                             \
  static_cast<void>(c##r##0), static_cast<void>(c##r##1), static_cast<void>(c##r##2), \
      static_cast<void>(c##r##3), static_cast<void>(l##r);
  SEXTANT_FOURS(SEXTANT_UNUSED)
#undef SEXTANT_UNUSED
#undef SEXTANT_FOURS
}

template <class T, int R, int V, bool kSum>
HWY_NOINLINE void value_tile_noinline(const ValueOperands<T>& o, std::int64_t keys) {
  value_tile<T, R, V, kSum>(o, keys);
}

// All channels, a multiple of kQueryGroup, of R rows.
template <class T, int R>
HWY_INLINE void value_rows(ValueOperands<T> o, std::int64_t keys, std::int64_t channels) {
  constexpr int kFew = std::min(kValueVectors, kQueryGroup / kSimdWidth);
  if (channels == 0) return value_tile_noinline<T, R, 0, true>(o, keys);
  for (std::int64_t left = channels / kSimdWidth; left > 0;) {
    const int taken = left >= kValueVectors ? kValueVectors : kFew;
    if (taken == kValueVectors) {
      if (o.sum != nullptr) {
        value_tile_noinline<T, R, kValueVectors, true>(o, keys);
      } else {
        value_tile_noinline<T, R, kValueVectors, false>(o, keys);
      }
    } else {
      if (o.sum != nullptr) {
        value_tile_noinline<T, R, kFew, true>(o, keys);
      } else {
        value_tile_noinline<T, R, kFew, false>(o, keys);
      }
    }
    o.sum = nullptr;
    o.v += taken * kSimdWidth;
    o.v_channel += taken * kSimdWidth;
    o.o += taken * kSimdWidth;
    o.part += taken * kSimdWidth;
    left -= taken;
  }
}

// All keys of a block, few at a time, so that the L1 cache holds the data of all tiles of rows and
// channels.
template <class T>
HWY_INLINE void value_tiles(int rows, std::int64_t keys, std::int64_t channels,
                            ValueOperands<T> o) {
  constexpr std::int64_t kKeys = 32;
  for (; keys > 0; keys -= kKeys, o.v += kKeys * o.v_row, o.p += kKeys) {
    const std::int64_t these = std::min(keys, kKeys);
    o.ends = keys <= kKeys;
    ValueOperands<T> tile = o;
    o.begins = false;
    o.v_left -= these;
    for (int left = rows; left > 0;) {
      const int taken = left >= 4 ? 4 : left;  // rows are 1, 2 or a multiple of 4, and 1 or 2 more
      if (taken == 4) {
        value_rows<T, 4>(tile, these, channels);
      } else if (taken == 2) {
        value_rows<T, 2>(tile, these, channels);
      } else {
        value_rows<T, 1>(tile, these, channels);
      }
      left -= taken;
      tile.p += taken * o.p_row;
      tile.o += taken * o.o_row;
      tile.part += taken * o.o_row;
      tile.v_left = tile.v_jump = 0;
      if (tile.sum == nullptr) continue;
      tile.sum += taken;
      tile.part_sum += taken;
    }
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
