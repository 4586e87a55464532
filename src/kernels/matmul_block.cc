// One task of a matrix product: rows of a are packed, then multiplied with panel after panel.
#include "kernels/matmul_block.h"

#include <algorithm>

#include "kernels/processor_state.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul_block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/matmul_pack-inl.h"
#include "kernels/matmul_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

void pack_panels(const MatrixRef& b, std::int64_t depth, std::int64_t columns, std::int64_t block,
                 std::int64_t first_panel, std::int64_t end_panel, float* packed) {
  const std::int64_t first = block * kDepthBlock;
  const std::int64_t steps = std::min(kDepthBlock, depth - first);
  const PackedPanels panels{packed, panels_of(columns)};
  for (std::int64_t p = first_panel; p < end_panel; ++p) {
    const MatrixRef from{b.data + first * b.row_stride + p * kPanelLanes * b.column_stride,
                         b.row_stride, b.column_stride};
    pack_panel(from, steps, std::min(kPanelLanes, columns - p * kPanelLanes),
               packed + (panels.panel(block, steps, p) - packed));
  }
}

// Where the tiles of one block of the depth begin.
struct Start {
  const float* data;
  std::ptrdiff_t row, column;  // strides: 0 where all rows, or all columns, begin alike
};

HWY_INLINE Start start_of(const MatmulResult& result, bool first_block) {
  HWY_ALIGN static constexpr float kZeros[kPanelLanes] = {};
  if (!first_block || result.add) return {result.c, result.c_row, 1};
  if (result.bias != nullptr) return {result.bias, 0, 1};
  return {kZeros, 0, 0};
}

// All rows of the block with one whole panel.
template <std::ptrdiff_t kARow, std::ptrdiff_t kAStep>
HWY_INLINE void multiply_panel(const float* a, std::int64_t rows, std::int64_t tile_floats,
                               ProductTile o) {
  for (std::int64_t first = 0; first < rows; first += kTallTile, a += tile_floats) {
    const std::int64_t tile_rows = std::min<std::int64_t>(kTallTile, rows - first);
    for (std::int64_t done = 0; done < tile_rows;) {
      std::int64_t taken = 0;
      for (std::int64_t lane = 0; lane < kPanelLanes; lane += kTileColumns) {
        const std::int64_t row = first + done;
        taken =
            some_rows<kARow, kAStep>(tile_rows - done, {.a = a + done * kARow,
                                                        .b = o.b + lane,
                                                        .start = o.start + row * o.start_row + lane,
                                                        .start_row = o.start_row,
                                                        .c = o.c + row * o.c_row + lane,
                                                        .c_row = o.c_row,
                                                        .steps = o.steps});
      }
      done += taken;
    }
  }
}

// The last panel has fewer columns: it is multiplied beside c.
template <std::ptrdiff_t kARow, std::ptrdiff_t kAStep>
HWY_NOINLINE void multiply_last_panel(const float* a, std::int64_t rows, std::int64_t tile_floats,
                                      std::int64_t lanes, ProductTile o) {
  HWY_ALIGN float beside[kTallTile * kPanelLanes] = {};
  for (std::int64_t first = 0; first < rows; first += kTallTile, a += tile_floats) {
    const std::int64_t taken = std::min<std::int64_t>(kTallTile, rows - first);
    for (std::int64_t r = 0; r < taken; ++r) {
      std::copy_n(o.start + (first + r) * o.start_row, lanes, beside + r * kPanelLanes);
    }
    multiply_panel<kARow, kAStep>(a, taken, 0,
                                  {.a = nullptr,
                                   .b = o.b,
                                   .start = beside,
                                   .start_row = kPanelLanes,
                                   .c = beside,
                                   .c_row = kPanelLanes,
                                   .steps = o.steps});
    for (std::int64_t r = 0; r < taken; ++r) {
      std::copy_n(beside + r * kPanelLanes, lanes, o.c + (first + r) * o.c_row);
    }
  }
}

template <std::ptrdiff_t kARow, std::ptrdiff_t kAStep>
HWY_INLINE void multiply_panels(const ProductBlock& p, const float* packed_a,
                                std::int64_t tile_floats, std::int64_t block, std::int64_t steps) {
  const Start start = start_of(p.result, block == 0);
  for (std::int64_t panel = p.first_panel; panel < p.end_panel; ++panel) {
    const std::int64_t column = panel * kPanelLanes;
    const ProductTile o{.a = nullptr,
                        .b = p.b.panel(block, steps, panel),
                        .start = start.data + column * start.column,
                        .start_row = start.row,
                        .c = p.result.c + column,
                        .c_row = p.result.c_row,
                        .steps = steps};
    const std::int64_t lanes = std::min(kPanelLanes, p.columns - column);
    if (lanes == kPanelLanes) {
      multiply_panel<kARow, kAStep>(packed_a, p.rows, tile_floats, o);
    } else {
      multiply_last_panel<kARow, kAStep>(packed_a, p.rows, tile_floats, lanes, o);
    }
  }
}

void multiply_block(const ProductBlock& p, float* packed_a) {
  std::int64_t block = 0;
  for (std::int64_t first = 0; first < p.depth || first == 0; first += kDepthBlock, ++block) {
    const std::int64_t steps = std::min(kDepthBlock, p.depth - first);
    const MatrixRef a{p.a.data + first * p.a.column_stride, p.a.row_stride, p.a.column_stride};
    if (a.row_stride == 1 && a.column_stride != 1) {
      pack_columns(a, p.rows, steps, packed_a);
      multiply_panels<1, kTallTile>(p, packed_a, kTallTile * kDepthBlock, block, steps);
    } else {
      pack_rows(a, p.rows, steps, packed_a);
      multiply_panels<kPackedRow, 1>(p, packed_a, kTallTile * kPackedRow, block, steps);
    }
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {

HWY_EXPORT(pack_panels);
HWY_EXPORT(multiply_block);

void pack_panels(const MatrixRef& b, std::int64_t depth, std::int64_t columns, std::int64_t block,
                 std::int64_t first_panel, std::int64_t end_panel, float* packed) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(pack_panels)(b, depth, columns, block, first_panel, end_panel, packed);
}

void multiply_block(const ProductBlock& block, float* packed_a) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(multiply_block)(block, packed_a);
}

}  // namespace sextant
#endif  // HWY_ONCE
