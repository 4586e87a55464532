// How matmul cuts its matrices. None of it shows in results.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "kernels/simd/prefetcher.h"

namespace sextant::kernels {

inline constexpr std::int64_t kPanelLanes = 32;   // columns of b per panel
inline constexpr std::int64_t kDepthBlock = 256;  // steps between two visits of an element of c
inline constexpr std::int64_t kRowBlock = 96;     // maximum rows of a per task
inline constexpr std::int64_t kRowStep = 12;      // which are a multiple of: the tallest tile
// The stride of rows of a packed tile: lines of the same k are in different sets of the cache,
// unlike those of power-of-two strides, and end at different k, so that one line at a time is read
// from the L2 cache.
inline constexpr std::int64_t kPackedRow = kDepthBlock + 17;
inline constexpr std::int64_t kPackedTile = kRowStep * kPackedRow;  // floats

// Up to this number of rows a panel is packed where it is read, because nobody reads it again; more
// rows share packed panels among tasks. So many steps of a panel stay in the first cache.
inline constexpr std::int64_t kFewRows = 8;
inline constexpr std::int64_t kFewSteps = 64;
static_assert(kDepthBlock % kFewSteps == 0 && kFewRows <= kRowStep);

constexpr std::int64_t panels_of(std::int64_t columns) {
  return (columns + kPanelLanes - 1) / kPanelLanes;
}

// The packed b: for each block of the depth, panel by panel, [step][kPanelLanes]; lanes beyond the
// columns are 0.
struct PackedPanels {
  const float* data;
  std::int64_t panels;  // of a block
  const float* panel(std::int64_t block, std::int64_t steps, std::int64_t index) const {
    return data + (block * kDepthBlock * panels + index * steps) * kPanelLanes;
  }
};

// Some rows of c and some panels of its columns, through the whole depth.
struct ProductBlock {
  std::int64_t rows, depth;
  MatrixRef a;          // from its first row
  const float* next_a;  // where a begins for the task that this thread will probably take next
  PackedPanels b;
  Prefetcher next_b;                             // a share of the panels that are packed next
  std::int64_t first_panel, end_panel, columns;  // columns: of the whole of c
  MatmulResult result;  // from its first row; sums only in one of the tasks with these rows
};

// Few rows of c and some of its columns, through the whole depth.
struct FewRowsBlock {
  std::int64_t rows, depth;
  const float* packed_a;  // for each block of the depth, row by row, kPackedRow apart
  StoredMatrix b;
  std::int64_t first_column, end_column;  // first_column: a multiple of kPanelLanes
  MatmulResult result;                    // without sums
};

// Floats of a packed a of few rows.
constexpr std::int64_t few_rows_floats(std::int64_t rows, std::int64_t depth) {
  return (depth + kDepthBlock - 1) / kDepthBlock * rows * kPackedRow;
}

}  // namespace sextant::kernels
