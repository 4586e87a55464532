// Multiplies float32 matrices for the layers. Every element of the result is one chain of
// multiply-adds in the order of k, starting from the initial value: the bits do not depend on
// blocking, threads or the number of rows multiplied together. (Fused if the instruction set has
// it, so instruction sets differ.) Denormal numbers count as 0; infinities and NaN follow the
// arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/stored_rows.h"
#include "sextant/core/tensor.h"

namespace sextant::kernels {

// Element (row, column) is data[row * row_stride + column * column_stride]: a transposed matrix is
// one with the strides exchanged.
template <class T>
struct MatrixOf {
  const T* data;
  std::ptrdiff_t row_stride, column_stride;

  MatrixOf from(std::int64_t row, std::int64_t column) const {
    if (data == nullptr) return *this;  // it has no elements
    return {data + row * row_stride + column * column_stride, row_stride, column_stride};
  }
};
using MatrixRef = MatrixOf<float>;

// A matrix of float32, bfloat16 or float16, whose numbers are widened where they are read.
struct StoredMatrix {
  const void* data;
  std::ptrdiff_t row_stride, column_stride;  // in elements
  Storage storage;

  template <class T>
  StoredMatrix(const MatrixOf<T>& m)  // NOLINT
      : StoredMatrix(m.data, m.row_stride, m.column_stride) {}
  template <class T>
  StoredMatrix(const T* first, std::ptrdiff_t row, std::ptrdiff_t column)
      : data(first), row_stride(row), column_stride(column), storage(storage_of<T>) {}

  // Calls use(MatrixOf<T>) with the type of the elements.
  template <class Use>
  auto with_elements(const Use& use) const {
    const auto of = [this]<class T>(const T* first) {
      return MatrixOf<T>{first, row_stride, column_stride};
    };
    switch (storage) {
      case Storage::float16:
        return use(of(static_cast<const float16*>(data)));
      case Storage::bfloat16:
        return use(of(static_cast<const bfloat16*>(data)));
      default:
        return use(of(static_cast<const float*>(data)));
    }
  }
  StoredMatrix from(std::int64_t row, std::int64_t column) const {
    return with_elements([&](const auto& m) { return StoredMatrix(m.from(row, column)); });
  }
};

// Whether columns of a are contiguous: a transposed matrix, as for gradients of weights.
template <class T>
constexpr bool has_contiguous_columns(const MatrixOf<T>& a) {
  return a.row_stride == 1 && a.column_stride != 1;
}

struct MatmulSizes {
  std::int64_t rows, columns, depth;  // of the result, and how many products make an element
};

// Computes c[i * c_row + j] = start + sum over k of a(i, k) b(k, j), where start is 0, or bias[j]
// if there is one, or the contents of c if `add`. Nothing overlaps c. threads as in parallel_for. A
// thread keeps the memory of a packed part of b, at most 4 MiB, for its next call
// (release_scratch()). Throws Error if there is not enough memory. A b of 16-bit numbers gives the
// bits of the same numbers in float32.
struct MatmulResult {
  float* c;
  std::ptrdiff_t c_row;
  const float* bias = nullptr;  // [columns]; not together with add
  bool add = false;
  // If there is one: sums[k / 64 * sums_row + i] = the sum of a(i, k) over these 64 (or fewer) k,
  // in their order, for an a that has_contiguous_columns. Gradients of biases are sums of these.
  float* sums = nullptr;
  std::ptrdiff_t sums_row = 0;
  // At the end each c becomes max(0, c), NaN stays; or, if there is one, is multiplied by the slope
  // of that function where its result was relu_of[i * c_row + j]: 0 where that is not above 0.
  bool relu = false;
  const float* relu_of = nullptr;
};
void matmul(const MatmulSizes& sizes, const MatrixRef& a, const StoredMatrix& b,
            const MatmulResult& result, int threads);

// A matrix b(depth, columns) in the order in which the kernel reads it, for many products: with few
// rows, packing would cost more than multiplying.
class PackedMatrix {
 public:
  PackedMatrix() = default;  // 0 x 0
  PackedMatrix(const StoredMatrix& b, std::int64_t depth, std::int64_t columns, int threads);

  std::int64_t depth() const noexcept { return depth_; }
  std::int64_t columns() const noexcept { return columns_; }
  const float* data() const noexcept { return data_.data(); }

 private:
  std::int64_t depth_ = 0, columns_ = 0;
  Tensor<float> data_;
};
// The same with b packed: the same bits.
void matmul(std::int64_t rows, const MatrixRef& a, const PackedMatrix& b,
            const MatmulResult& result, int threads);

}  // namespace sextant::kernels
