// Contains the one inner loop of the attention kernels: a tile of C = start + A B in registers,
// from load to store. Included again for each instruction set.
//
//   C[row][lane] (+)= sum over steps s of A(row, s) * B[s][lane]
//
// A is read one number at a time and broadcast, so it may have any two strides: rows of keys
// (scores), columns of values (outputs), rows of probabilities (gradients). B and C have contiguous
// lanes. Every element is one chain of multiply-adds in the order of the steps, in any tile: this
// makes results independent of blocking.
#if defined(SEXTANT_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_TILE_INL_H_
#undef SEXTANT_KERNELS_TILE_INL_H_
#else
#define SEXTANT_KERNELS_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention/geometry.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

static_assert(kQueryGroup % kSimdWidth == 0);

// Sets the groups of lanes that hold lanes [first, end) to zero, in the given number of rows of
// kQueryBlock.
HWY_INLINE void clear_groups(std::int64_t rows, std::int64_t first, std::int64_t end,
                             float* lanes) {
  const TileTag d;
  for (std::int64_t row = 0; row < rows; ++row, lanes += kQueryBlock) {
    for (std::int64_t lane = first / kQueryGroup * kQueryGroup; lane < end; lane += kQueryGroup) {
      for (std::int64_t i = 0; i < kQueryGroup; i += kSimdWidth) {
        hn::StoreU(hn::Zero(d), d, lanes + lane + i);
        HWY_FENCE;  // else compilers make it a memset, which takes longer to start than to finish
      }
    }
  }
}

// The same for the lanes after `count` queries in the group of the last one.
HWY_INLINE void clear_rest(std::int64_t rows, std::int64_t count, float* lanes) {
  clear_groups(rows, count, (count + kQueryGroup - 1) / kQueryGroup * kQueryGroup, lanes);
}

// The initial value of a tile, and the computation at the end besides storing C.
enum class TileMode {
  add,     // starts from C: continues its chain
  block,   // starts from 0; the whole chain is added to C at the end
  store,   // starts from 0
  scores,  // starts from 0; the largest value of each lane goes to `max`
  biased,  // the same after adding `bias`
};

struct TileOperands {
  const float* a;
  std::ptrdiff_t a_row, a_step;
  const float* b;
  std::ptrdiff_t b_step;
  float* c;
  std::ptrdiff_t c_row;
  std::int64_t steps;
  const float* bias = nullptr;  // biased: bias[row * bias_row + lane]
  std::ptrdiff_t bias_row = 0;
  float* max = nullptr;  // scores, biased: [lane]
};

// Rows R (1 .. 8) and vectors V (1 .. 4) are named variables, because arrays of vectors end up in
// memory with some compilers and are impossible with some instruction sets.
#define SEXTANT_EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

template <TileMode kMode, int R, int V>
HWY_INLINE void tile(const TileOperands& o) {
  const TileTag d;
  constexpr std::ptrdiff_t n = kSimdWidth;
  const auto start = [&](int row, int v) HWY_ATTR {
    return kMode == TileMode::add && row < R && v < V ? hn::LoadU(d, o.c + row * o.c_row + v * n)
                                                      : hn::Zero(d);
  };
#define SEXTANT_START(r) \
  auto c##r##0 = start(r, 0), c##r##1 = start(r, 1), c##r##2 = start(r, 2), c##r##3 = start(r, 3);
  SEXTANT_EACH_ROW(SEXTANT_START)
#undef SEXTANT_START

  const float* a = o.a;
  const float* b = o.b;
  for (std::int64_t s = 0; s < o.steps; ++s, a += o.a_step, b += o.b_step) {
    const auto b0 = hn::LoadU(d, b);
    const auto b1 = V > 1 ? hn::LoadU(d, b + n) : b0;
    const auto b2 = V > 2 ? hn::LoadU(d, b + 2 * n) : b0;
    const auto b3 = V > 3 ? hn::LoadU(d, b + 3 * n) : b0;
#define SEXTANT_STEP(r)                                        \
  if constexpr (R > r) {                                       \
    const auto x = hn::Set(d, a[r * o.a_row]);                 \
    c##r##0 = hn::MulAdd(x, b0, c##r##0);                      \
    if constexpr (V > 1) c##r##1 = hn::MulAdd(x, b1, c##r##1); \
    if constexpr (V > 2) c##r##2 = hn::MulAdd(x, b2, c##r##2); \
    if constexpr (V > 3) c##r##3 = hn::MulAdd(x, b3, c##r##3); \
  }
    SEXTANT_EACH_ROW(SEXTANT_STEP)
#undef SEXTANT_STEP
    static_cast<void>(b1), static_cast<void>(b2), static_cast<void>(b3);
  }

  constexpr bool kTracksMax = kMode == TileMode::scores || kMode == TileMode::biased;
  auto m0 = kTracksMax ? hn::LoadU(d, o.max) : hn::Zero(d);
  auto m1 = kTracksMax && V > 1 ? hn::LoadU(d, o.max + n) : m0;
  auto m2 = kTracksMax && V > 2 ? hn::LoadU(d, o.max + 2 * n) : m0;
  auto m3 = kTracksMax && V > 3 ? hn::LoadU(d, o.max + 3 * n) : m0;
#define SEXTANT_FINISH_ONE(r, v)                                                 \
  if constexpr (R > r && V > v) {                                                \
    if constexpr (kMode == TileMode::biased) {                                   \
      c##r##v = hn::Add(c##r##v, hn::LoadU(d, o.bias + r * o.bias_row + v * n)); \
    }                                                                            \
    if constexpr (kMode == TileMode::block) {                                    \
      c##r##v = hn::Add(hn::LoadU(d, o.c + r * o.c_row + v * n), c##r##v);       \
    }                                                                            \
    if constexpr (kTracksMax) m##v = hn::Max(m##v, c##r##v);                     \
    hn::StoreU(c##r##v, d, o.c + r * o.c_row + v * n);                           \
  }                                                                              \
  static_cast<void>(c##r##v);
#define SEXTANT_FINISH(r)  \
  SEXTANT_FINISH_ONE(r, 0) \
  SEXTANT_FINISH_ONE(r, 1) SEXTANT_FINISH_ONE(r, 2) SEXTANT_FINISH_ONE(r, 3)
  SEXTANT_EACH_ROW(SEXTANT_FINISH)
#undef SEXTANT_FINISH
#undef SEXTANT_FINISH_ONE
  if constexpr (kTracksMax) {
    hn::StoreU(m0, d, o.max);
    if constexpr (V > 1) hn::StoreU(m1, d, o.max + n);
    if constexpr (V > 2) hn::StoreU(m2, d, o.max + 2 * n);
    if constexpr (V > 3) hn::StoreU(m3, d, o.max + 3 * n);
  }
}

#undef SEXTANT_EACH_ROW

// The last rows, fewer than a tile has.
template <TileMode kMode, int R, int V>
void last_rows(std::int64_t rows, const TileOperands& o) {
  if constexpr (R > 0) {
    if (rows == R) return tile<kMode, R, V>(o);
    last_rows<kMode, R - 1, V>(rows, o);
  }
}

template <TileMode kMode, int V>
HWY_NOINLINE void column_of_tiles(std::int64_t rows, TileOperands o) {
  constexpr int R = tile_rows(V);
  for (; rows >= R; rows -= R) {
    tile<kMode, R, V>(o);
    o.a += R * o.a_row;
    o.c += R * o.c_row;
    if constexpr (kMode == TileMode::biased) o.bias += R * o.bias_row;
  }
  last_rows<kMode, R - 1, V>(rows, o);
}

// C of `rows` rows and `groups` groups of kQueryGroup lanes. A tall C is better than a wide one.
template <TileMode kMode>
HWY_INLINE void product(std::int64_t rows, std::int64_t groups, TileOperands o) {
  constexpr std::int64_t kVectors = kQueryGroup / kSimdWidth;
  for (std::int64_t left = groups * kVectors; left > 0;) {
    std::int64_t taken = std::min<std::int64_t>(left, kTileVectors);
    switch (taken) {
      case 1:
        column_of_tiles<kMode, 1>(rows, o);
        break;
      case 2:
        column_of_tiles<kMode, 2>(rows, o);
        break;
#if SEXTANT_AVX512
      case 3:
        column_of_tiles<kMode, 3>(rows, o);
        break;
      default:
        column_of_tiles<kMode, 4>(rows, o);
        break;
#endif
    }
    left -= taken;
    o.b += taken * kSimdWidth;
    o.c += taken * kSimdWidth;
    if constexpr (kMode == TileMode::biased) o.bias += taken * kSimdWidth;
    if constexpr (kMode == TileMode::biased || kMode == TileMode::scores)
      o.max += taken * kSimdWidth;
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
