// Products of float32 matrices, for the layers. Every element of the result is one chain of
// multiply-adds in the order of k, starting from what it is added to: the bits depend on neither
// blocking nor threads nor how many rows are asked for together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant {

// Element (row, column) is data[row * row_stride + column * column_stride]: a transposed matrix is
// one with the strides exchanged.
struct MatrixRef {
  const float* data;
  std::ptrdiff_t row_stride, column_stride;
};

struct MatmulSizes {
  std::int64_t rows, columns, depth;  // of the result, and how many products make an element
};

// c[i * c_row + j] = start + sum over k of a(i, k) b(k, j), where start is 0, or bias[j] if there
// is one, or what c holds if `add`. Nothing overlaps c. threads as in parallel_for.
struct MatmulResult {
  float* c;
  std::ptrdiff_t c_row;
  const float* bias = nullptr;  // [columns]; not together with add
  bool add = false;
};
void matmul(const MatmulSizes& sizes, const MatrixRef& a, const MatrixRef& b,
            const MatmulResult& result, int threads);

}  // namespace sextant
