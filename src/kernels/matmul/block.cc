// One task of a matrix product: rows of a are packed, then multiplied with panel after panel.
#include "kernels/matmul/block.h"

#include <algorithm>
#include <utility>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/matmul/pack-inl.h"
#include "kernels/matmul/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

constexpr std::int64_t kPanelsByRows = 8;

template <class T>
void pack_panels_of(const MatrixOf<T>& b, std::int64_t depth, std::int64_t columns,
                    std::int64_t block, std::int64_t first_panel, std::int64_t end_panel,
                    float* packed) {
  const std::int64_t first = block * kDepthBlock;
  const std::int64_t steps = std::min(kDepthBlock, depth - first);
  const PackedPanels panels{packed, panels_of(columns)};
  const auto from = [&](std::int64_t p) { return b.from(first, p * kPanelLanes); };
  const auto to = [&](std::int64_t p) { return packed + (panels.panel(block, steps, p) - packed); };
  std::int64_t p = first_panel;
  if (b.column_stride == 1 && b.row_stride != 1) {
    const std::int64_t whole = std::min(end_panel, columns / kPanelLanes);
    for (std::int64_t taken = 0; p < whole; p += taken) {
      taken = std::min(kPanelsByRows, whole - p);
      pack_panels_by_rows(from(p), steps, taken, to(p));
    }
  }
  for (; p < end_panel; ++p) {
    pack_panel(from(p), steps, std::min(kPanelLanes, columns - p * kPanelLanes), to(p));
  }
}

void pack_panels(const StoredMatrix& b, std::int64_t depth, std::int64_t columns,
                 std::int64_t block, std::int64_t first_panel, std::int64_t end_panel,
                 float* packed) {
  b.with_elements([&](const auto& elements) {
    pack_panels_of(elements, depth, columns, block, first_panel, end_panel, packed);
  });
}

// Where the tiles of one block of the depth begin.
struct Start {
  const float* data;
  std::ptrdiff_t row, column;  // strides: 0 if all rows, or all columns, begin with the same number
};

HWY_INLINE Start start_of(const MatmulResult& result, bool first_block) {
  HWY_ALIGN static constexpr float kZeros[kPanelLanes] = {};
  if (!first_block || result.add) return {result.c, result.c_row, 1};
  if (result.bias != nullptr) return {result.bias, 0, 1};
  return {kZeros, 0, 0};
}

HWY_INLINE const float* at(const float* data, std::ptrdiff_t offset) {
  return data == nullptr ? nullptr : data + offset;
}

// The rows of one packed tile with one whole panel.
template <std::ptrdiff_t kARow, std::ptrdiff_t kAStep>
HWY_INLINE void multiply_panel(std::int64_t rows, const ProductTile& o) {
  for (std::int64_t done = 0, taken = 0; done < rows; done += taken) {
    for (std::int64_t lane = 0; lane < kPanelLanes; lane += kTileColumns) {
      taken =
          some_rows<kARow, kAStep>(rows - done, {.a = o.a + done * kARow,
                                                 .b = at(o.b, lane),  // null: no steps
                                                 .start = o.start + done * o.start_row + lane,
                                                 .start_row = o.start_row,
                                                 .c = o.c + done * o.c_row + lane,
                                                 .c_row = o.c_row,
                                                 .steps = o.steps,
                                                 .ahead = o.ahead,
                                                 .relu = o.relu,
                                                 .relu_of = at(o.relu_of, done * o.c_row + lane)});
    }
  }
}

// The last panel has fewer columns: it is computed in a separate tile.
template <std::ptrdiff_t kARow, std::ptrdiff_t kAStep>
HWY_NOINLINE void multiply_last_panel(std::int64_t rows, std::int64_t lanes, ProductTile o) {
  HWY_ALIGN float beside[kTallTile * kPanelLanes] = {};
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(o.start + r * o.start_row, lanes, beside + r * kPanelLanes);
  }
  float* c = std::exchange(o.c, beside);
  const std::ptrdiff_t c_row = std::exchange(o.c_row, kPanelLanes);
  o.start = beside;
  o.start_row = kPanelLanes;
  HWY_ALIGN float relu_of[kTallTile * kPanelLanes] = {};
  if (o.relu_of != nullptr) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::copy_n(o.relu_of + r * c_row, lanes, relu_of + r * kPanelLanes);
    }
    o.relu_of = relu_of;
  }
  multiply_panel<kARow, kAStep>(rows, o);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(beside + r * kPanelLanes, lanes, c + r * c_row);
  }
}

// Rows outside: a tile of a is packed and stays in the first cache while b streams from the second,
// and stores go along rows of c. pack(first row, rows)
template <std::ptrdiff_t kARow, std::ptrdiff_t kAStep, class Pack>
HWY_INLINE void multiply_panels(const ProductBlock& p, const float* packed_a, const Pack& pack,
                                std::int64_t block, std::int64_t steps, Prefetcher ahead) {
  const Start start = start_of(p.result, block == 0);
  const bool last = block * kDepthBlock + steps == p.depth;
  Prefetcher then = last ? p.next_b : Prefetcher();
  for (std::int64_t first = 0; first < p.rows; first += kTallTile) {
    const std::int64_t rows = std::min<std::int64_t>(kTallTile, p.rows - first);
    pack(first, rows);
    for (std::int64_t panel = p.first_panel; panel < p.end_panel; ++panel) {
      const std::int64_t column = panel * kPanelLanes;
      if (ahead.done()) ahead = std::exchange(then, {});
      const ProductTile o{
          .a = packed_a,
          .b = p.b.panel(block, steps, panel),
          .start = start.data + column * start.column + first * start.row,
          .start_row = start.row,
          .c = p.result.c + column + first * p.result.c_row,
          .c_row = p.result.c_row,
          .steps = steps,
          .ahead = &ahead,
          .relu = last && p.result.relu,
          .relu_of = last ? at(p.result.relu_of, column + first * p.result.c_row) : nullptr};
      const std::int64_t lanes = std::min(kPanelLanes, p.columns - column);
      if (lanes == kPanelLanes) {
        multiply_panel<kARow, kAStep>(rows, o);
      } else {
        multiply_last_panel<kARow, kAStep>(rows, lanes, o);
      }
    }
  }
}

// The data that is packed next: more of the depth of these rows, or rows of another task.
HWY_INLINE Prefetcher runs_after(const ProductBlock& p, std::int64_t end) {
  const bool more = end < p.depth;
  if (!more && p.next_a == nullptr) return {};
  const float* data = more ? p.a.data + end * p.a.column_stride : p.next_a;
  return Prefetcher(MatrixRef{data, p.a.row_stride, p.a.column_stride}, p.rows,
                    std::min(kDepthBlock, more ? p.depth - end : p.depth));
}

void pack_few_rows(const MatrixRef& a, std::int64_t rows, std::int64_t depth, float* packed) {
  for (std::int64_t first = 0; first < depth; first += kDepthBlock) {
    pack_rows(a.from(0, first), rows, std::min(kDepthBlock, depth - first), packed);
    packed += rows * kPackedRow;
  }
}

// Panel after panel: some steps of it are packed into the first cache and multiplied there.
template <class T>
void multiply_few_rows_of(const FewRowsBlock& p, const MatrixOf<T>& b) {
  HWY_ALIGN float panel[kFewSteps * kPanelLanes];
  Prefetcher ahead;
  for (std::int64_t column = p.first_column; column < p.end_column; column += kPanelLanes) {
    const std::int64_t lanes = std::min(kPanelLanes, p.end_column - column);
    for (std::int64_t first = 0; first < p.depth || first == 0; first += kFewSteps) {
      const std::int64_t steps = std::min(kFewSteps, p.depth - first);
      const bool ends = first + steps == p.depth;
      const Start start = start_of(p.result, first == 0);
      pack_panel(b.from(first, column), steps, lanes, panel);
      const float* const packed_a =
          p.packed_a + first / kDepthBlock * p.rows * kPackedRow + first % kDepthBlock;
      for (std::int64_t row = 0; row < p.rows; row += kTallTile) {
        const std::int64_t rows = std::min<std::int64_t>(kTallTile, p.rows - row);
        const std::ptrdiff_t place = row * p.result.c_row + column;
        const ProductTile o{.a = packed_a + row * kPackedRow,
                            .b = panel,
                            .start = start.data + column * start.column + row * start.row,
                            .start_row = start.row,
                            .c = p.result.c + place,
                            .c_row = p.result.c_row,
                            .steps = steps,
                            .ahead = &ahead,
                            .relu = ends && p.result.relu,
                            .relu_of = ends ? at(p.result.relu_of, place) : nullptr};
        if (lanes == kPanelLanes) {
          multiply_panel<kPackedRow, 1>(rows, o);
        } else {
          multiply_last_panel<kPackedRow, 1>(rows, lanes, o);
        }
      }
    }
  }
}

void multiply_few_rows(const FewRowsBlock& p) {
  p.b.with_elements([&](const auto& elements) { multiply_few_rows_of(p, elements); });
}

void multiply_block(const ProductBlock& p) {
  HWY_ALIGN float packed_a[kPackedTile];
  std::int64_t block = 0;
  for (std::int64_t first = 0; first < p.depth || first == 0; first += kDepthBlock, ++block) {
    const std::int64_t steps = std::min(kDepthBlock, p.depth - first);
    const Prefetcher ahead = runs_after(p, first + steps);
    const auto from = [&](std::int64_t row) {
      return MatrixRef{p.a.data + first * p.a.column_stride + row * p.a.row_stride, p.a.row_stride,
                       p.a.column_stride};
    };
    if (has_contiguous_columns(p.a)) {
      float* const sums = p.result.sums;
      const auto pack = [&](std::int64_t row, std::int64_t rows) HWY_ATTR {
        pack_columns(from(row), rows, steps, packed_a,
                     sums == nullptr ? nullptr : sums + first / kSumRows * p.result.sums_row + row,
                     p.result.sums_row);
      };
      multiply_panels<1, kTallTile>(p, packed_a, pack, block, steps, ahead);
    } else {
      const auto pack = [&](std::int64_t row, std::int64_t rows)
                            HWY_ATTR { pack_rows(from(row), rows, steps, packed_a); };
      multiply_panels<kPackedRow, 1>(p, packed_a, pack, block, steps, ahead);
    }
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(pack_panels);
HWY_EXPORT(multiply_block);
HWY_EXPORT(pack_few_rows);
HWY_EXPORT(multiply_few_rows);

void pack_panels(const StoredMatrix& b, std::int64_t depth, std::int64_t columns,
                 std::int64_t block, std::int64_t first_panel, std::int64_t end_panel,
                 float* packed) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(pack_panels)(b, depth, columns, block, first_panel, end_panel, packed);
}

void multiply_block(const ProductBlock& block) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(multiply_block)(block);
}

void pack_few_rows(const MatrixRef& a, std::int64_t rows, std::int64_t depth,
                   float* packed) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(pack_few_rows)(a, rows, depth, packed);
}

void multiply_few_rows(const FewRowsBlock& block) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(multiply_few_rows)(block);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
