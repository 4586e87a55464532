// Both sides of a matrix product in the order in which its tile reads them. Included again for each
// instruction set.
#if defined(SEXTANT_KERNELS_MATMUL_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_MATMUL_PACK_INL_H_
#undef SEXTANT_KERNELS_MATMUL_PACK_INL_H_
#else
#define SEXTANT_KERNELS_MATMUL_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/matmul/geometry.h"
#include "kernels/matmul/tile-inl.h"
#include "kernels/simd/pack-inl.h"
#include "kernels/simd/row_blocks.h"
#include "kernels/simd/tile_geometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `steps` rows of b from its element at `from`, and `lanes` of its columns, as one panel.
template <class T>
HWY_INLINE void pack_panel(const MatrixOf<T>& from, std::int64_t steps, std::int64_t lanes,
                           float* to) {
  if (lanes < kPanelLanes) {
    std::memset(to, 0, static_cast<std::size_t>(steps * kPanelLanes) * sizeof(float));
  }
  if (from.row_stride == 1) {
    const auto same = [](auto, auto x) HWY_ATTR { return x; };
    transpose(from.data, from.column_stride, lanes, steps, to, kPanelLanes, same);
    return;
  }
  for (std::int64_t s = 0; s < steps; ++s, to += kPanelLanes) {
    const T* row = from.data + s * from.row_stride;
    if (from.column_stride == 1 && lanes == kPanelLanes) {
      const ProductTag d;
      for (std::int64_t i = 0; i < kPanelLanes; i += kSimdWidth) {
        hn::Store(load_floats(d, row + i), d, to + i);
      }
    } else {
      for (std::int64_t i = 0; i < lanes; ++i) {
        to[i] = static_cast<float>(row[i * from.column_stride]);
      }
    }
  }
}

// Several whole panels of a b whose rows are contiguous, row by row: hardware prefetchers need
// longer runs of reads than a panel's. They stop at the end of a row.
template <class T>
HWY_INLINE void pack_panels_by_rows(const MatrixOf<T>& from, std::int64_t steps,
                                    std::int64_t panels, float* to) {
  constexpr std::int64_t kPrefetchRows = 4;
  const ProductTag d;
  for (std::int64_t s = 0; s < steps; ++s) {
    const T* row = from.data + s * from.row_stride;
    prefetch_row(row, kPrefetchRows * from.row_stride, panels * kPanelLanes);
    for (std::int64_t p = 0; p < panels; ++p) {
      float* panel = to + (p * steps + s) * kPanelLanes;
      prefetch_row(panel, kPanelLanes, kPanelLanes);
      for (std::int64_t i = 0; i < kPanelLanes; i += kSimdWidth) {
        hn::Store(load_floats(d, row + p * kPanelLanes + i), d, panel + i);
      }
    }
  }
}

// At most kTallTile rows of a as rows kPackedRow apart.
HWY_INLINE void pack_rows(const MatrixRef& from, std::int64_t rows, std::int64_t steps, float* to) {
  constexpr std::int64_t kPrefetchRows = 2;
  const ProductTag d;
  for (std::int64_t r = 0; r < rows; ++r, to += kPackedRow) {
    const float* row = from.data + r * from.row_stride;
    std::int64_t s = 0;
    if (from.column_stride == 1) {
      prefetch_row(row, kPrefetchRows * from.row_stride, steps);
      for (; s + kSimdWidth <= steps; s += kSimdWidth) {
        hn::StoreU(hn::LoadU(d, row + s), d, to + s);
      }
    }
    for (; s < steps; ++s) to[s] = row[s * from.column_stride];
  }
}

// At most kTallTile rows of an a with contiguous columns, as [step][kTallTile], with room for a
// vector after them. If there are sums, those of kSumRows columns at a time, sums_row apart.
HWY_INLINE void pack_columns(const MatrixRef& from, std::int64_t rows, std::int64_t steps,
                             float* to, float* sums, std::int64_t sums_row) {
  static_assert(kTallTile * kDepthBlock + kSimdWidth <= kPackedTile);
  const float* column = from.data;
  for (std::int64_t first = 0; first < steps; first += kSumRows) {
    const std::int64_t end = std::min(first + kSumRows, steps);
    std::int64_t s = first;
#if SEXTANT_TILE_LANES >= 8  // others load and store what a mask hides
    constexpr std::int64_t kPrefetchRows = 8;
    const ProductTag d;
    const auto used = hn::FirstN(d, static_cast<std::size_t>(rows));
    auto sum = hn::Zero(d);
    for (; s < end; ++s, column += from.column_stride, to += kTallTile) {
      prefetch_row(column, kPrefetchRows * from.column_stride, kTallTile);
      const auto x = hn::MaskedLoad(used, d, column);
      sum = hn::Add(sum, x);
      hn::StoreU(x, d, to);
    }
    if (sums != nullptr) hn::BlendedStore(sum, used, d, sums + first / kSumRows * sums_row);
#else
    float sum[kTallTile] = {};
    for (; s < end; ++s, column += from.column_stride, to += kTallTile) {
      for (std::int64_t r = 0; r < rows; ++r) sum[r] += to[r] = column[r];
    }
    if (sums != nullptr) std::copy_n(sum, rows, sums + first / kSumRows * sums_row);
#endif
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
