// Products of a few rows with many columns, for terms of scores: C = A B in float32.
#pragma once

#include <cstdint>

namespace sextant::kernels {

// c[row * c_row + column] = sum over n < steps of a[row * a_row + n] b[n * b_step + column], for
// `columns` columns, a multiple of kQueryGroup (geometry.h). Every sum is one chain of
// multiply-adds in the order of n, in any block.
struct RowProducts {
  const float* a;
  std::int64_t a_row, rows, steps;
  const float* b;
  std::int64_t b_step, columns;
  float* c;
  std::int64_t c_row;
};
void row_products(const RowProducts& products) noexcept;

}  // namespace sextant::kernels
