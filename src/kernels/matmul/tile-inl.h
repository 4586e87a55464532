// The inner loop of matrix products: a tile of C in registers, two vectors wide and as tall as the
// registers allow. Included again for each instruction set.
//
// The attention kernels' tile (tile-inl.h) is four vectors wide, for 64 queries whose keys are in
// the L1 cache. Here b comes from the L2 cache, and a tall tile reads half as much of it.
#if defined(SEXTANT_KERNELS_MATMUL_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_MATMUL_TILE_INL_H_
#undef SEXTANT_KERNELS_MATMUL_TILE_INL_H_
#else
#define SEXTANT_KERNELS_MATMUL_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/matmul/geometry.h"
#include "kernels/simd/bounds-inl.h"
#include "kernels/simd/lanes-inl.h"
#include "kernels/simd/prefetcher.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ProductTag = TileTag;
constexpr std::int64_t kTileColumns = 2 * kSimdWidth;
static_assert(kRowBlock % kTallTile == 0 && kRowStep % kTallTile == 0 &&
              kPanelLanes % kTileColumns == 0);

constexpr std::ptrdiff_t kLine = 16;           // floats of a cache line
constexpr std::ptrdiff_t kPrefetchSteps = 16;  // prefetch distance in steps of b
constexpr std::int64_t kStride = 8;            // steps between two prefetches of other lines

// c[row * c_row + lane] = start[row * start_row + lane] + sum of a(row, step) b[step][lane]
struct ProductTile {
  const float* a;
  const float* b;  // [steps][kPanelLanes]
  const float* start;
  std::ptrdiff_t start_row;
  float* c;
  std::ptrdiff_t c_row;
  std::int64_t steps;
  Prefetcher* ahead;
  bool relu;             // applied to c at the end, as in MatmulResult
  const float* relu_of;  // from the tile's first element
};

#define SEXTANT_EACH_ROW(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

// a(row, step) is a[row * kARow + step * kAStep]. Hardware prefetchers do not see the lines of C,
// so these are prefetched for writing: row by row, because many at once would delay b, and towards
// the end, because b would evict them from the L1 cache.
template <int R, std::ptrdiff_t kARow, std::ptrdiff_t kAStep>
HWY_INLINE void product_tile(const ProductTile& o) {
  const ProductTag d;
  constexpr std::ptrdiff_t n = kSimdWidth;
  const auto start = [&](int row, int v) HWY_ATTR {
    return row < R ? hn::LoadU(d, o.start + row * o.start_row + v * n) : hn::Zero(d);
  };
#define SEXTANT_START(r) auto low##r = start(r, 0), high##r = start(r, 1);
  SEXTANT_EACH_ROW(SEXTANT_START)
#undef SEXTANT_START
  const float* a = o.a;
  const float* b = o.b;
  float* const c = o.c;
  const std::ptrdiff_t c_row = o.c_row;
  // Tiles that accumulate into C begin with it: the next one's lines are prefetched as well.
  const std::ptrdiff_t lanes = o.start == o.c ? 2 * kTileColumns : kTileColumns;
  Prefetcher ahead = *o.ahead;
  std::ptrdiff_t asked = 0;
  for (std::int64_t left = o.steps; left > 0; left -= kStride) {
    if (left <= kStride * R + kPrefetchSteps && asked < R) {
      for (std::ptrdiff_t line = 0; line < lanes; line += kLine) {
        prefetch_for_write(reinterpret_cast<std::uintptr_t>(c + asked * c_row + line));
      }
      for (std::ptrdiff_t line = 0; o.relu_of != nullptr && line < kTileColumns; line += kLine) {
        hwy::Prefetch(o.relu_of + asked * c_row + line);
      }
      ++asked;
    }
    ahead.prefetch_line();
    const float* const stop = b + std::min(left, kStride) * kPanelLanes;
    for (; b != stop; a += kAStep, b += kPanelLanes) {
      for (std::ptrdiff_t line = 0; line < kTileColumns; line += kLine) {
        hwy::Prefetch(b + kPrefetchSteps * kPanelLanes + line);
      }
      const auto b_low = hn::LoadU(d, b), b_high = hn::LoadU(d, b + n);
#define SEXTANT_STEP(r)                       \
  if constexpr (R > r) {                      \
    const auto x = hn::Set(d, a[r * kARow]);  \
    low##r = hn::MulAdd(x, b_low, low##r);    \
    high##r = hn::MulAdd(x, b_high, high##r); \
  }
      SEXTANT_EACH_ROW(SEXTANT_STEP)
#undef SEXTANT_STEP
    }
  }
  *o.ahead = ahead;
#define SEXTANT_RELU(r) \
  low##r = at_least(hn::Zero(d), low##r), high##r = at_least(hn::Zero(d), high##r);
#define SEXTANT_SLOPE(r)                     \
  if constexpr (R > r) {                     \
    low##r = hn::Mul(low##r, slope(r, 0));   \
    high##r = hn::Mul(high##r, slope(r, 1)); \
  }
  if (o.relu) {
    SEXTANT_EACH_ROW(SEXTANT_RELU)
  }
  if (o.relu_of != nullptr) {
    const auto slope = [&](std::ptrdiff_t row, std::ptrdiff_t v) HWY_ATTR {
      return relu_slope(d, hn::LoadU(d, o.relu_of + row * c_row + v * n));
    };
    SEXTANT_EACH_ROW(SEXTANT_SLOPE)
  }
#undef SEXTANT_RELU
#undef SEXTANT_SLOPE
#define SEXTANT_STORE(r)                       \
  if constexpr (R > r) {                       \
    hn::StoreU(low##r, d, c + r * c_row);      \
    hn::StoreU(high##r, d, c + r * c_row + n); \
  }                                            \
  static_cast<void>(low##r), static_cast<void>(high##r);
  SEXTANT_EACH_ROW(SEXTANT_STORE)
#undef SEXTANT_STORE
}
#undef SEXTANT_EACH_ROW

// The tile for the largest of 12, 8, 4, 2, 1 (or 6, 4, 2, 1) that `rows` holds; returns it.
template <std::ptrdiff_t kARow, std::ptrdiff_t kAStep>
HWY_NOINLINE std::int64_t some_rows(std::int64_t rows, const ProductTile& o) {
  if (rows >= kTallTile) return product_tile<kTallTile, kARow, kAStep>(o), kTallTile;
  if constexpr (kTallTile > 8) {
    if (rows >= 8) return product_tile<8, kARow, kAStep>(o), 8;
  }
  if (rows >= 4) return product_tile<4, kARow, kAStep>(o), 4;
  if (rows >= 2) return product_tile<2, kARow, kAStep>(o), 2;
  return product_tile<1, kARow, kAStep>(o), 1;
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
