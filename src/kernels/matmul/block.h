// The pieces of a matrix product that threads share out.
#pragma once

#include <cstdint>

#include "kernels/matmul/geometry.h"

namespace sextant::kernels {

// Writes panels [first_panel, end_panel) of one block of the depth of b where PackedPanels of
// `packed` expects them; it has depth * panels_of(columns) * kPanelLanes floats.
void pack_panels(const StoredMatrix& b, std::int64_t depth, std::int64_t columns,
                 std::int64_t block, std::int64_t first_panel, std::int64_t end_panel,
                 float* packed) noexcept;

// At most kRowBlock rows.
void multiply_block(const ProductBlock& block) noexcept;

// Writes at most kFewRows rows of a as FewRowsBlock::packed_a: few_rows_floats() of them.
void pack_few_rows(const MatrixRef& a, std::int64_t rows, std::int64_t depth,
                   float* packed) noexcept;

void multiply_few_rows(const FewRowsBlock& block) noexcept;

}  // namespace sextant::kernels
