// Rotation of pairs of channels by rows of cosines and sines.
// The arithmetic of one pair is the same in every kernel that rotates, so that all give the same
// bits on one instruction set (Highway's MulAdd: one rounding where the processor has it, else
// two):
//   y1 = NegMulAdd(x2, sin, x1 * cos)    the product with the sine is fused, that with the cosine
//   is rounded y2 = MulAdd(x1, sin, x2 * cos)
// in float32, whatever the storage; 16-bit results are rounded once more, to nearest, ties to even.
// Each y is within u (|x1| + |x2|) (2 + u) of the true one for |cos|, |sin| <= 1, u = 2^-24: one
// rounding of a product and one of the sum (without fused operations, of two products). The inverse
// rotation takes the negated sine.
#pragma once

#include <cstdint>

#include "sextant/core/dtype.h"

namespace sextant::kernels {

// Cosines and sines: row i at cos + row_index(i) * stride and sin + row_index(i) * stride, `pairs`
// of each.
template <class U>
struct BasicRotationRows {
  const U* cos = nullptr;
  const U* sin = nullptr;
  std::int64_t stride = 0;  // elements; 0: the same row for all
  std::int64_t pairs = 0;
  std::int64_t first_channel = 0;  // the rotated span has 2 * pairs channels from here
  bool interleaved = false;        // pair k is (2k, 2k + 1) of the span, else (k, k + pairs)
  bool inverse = false;            // by the opposite angles
  const std::int64_t* row_indices =
      nullptr;  // row i is row row_indices[i] of the table; null: row i

  std::int64_t row_index(std::int64_t i) const noexcept {
    return row_indices == nullptr ? i : row_indices[i];
  }
  // The rows from `first` on.
  BasicRotationRows from(std::int64_t first) const noexcept {
    BasicRotationRows rest = *this;
    if (row_indices != nullptr) {
      rest.row_indices += first;
    } else {
      rest.cos += first * stride;
      rest.sin += first * stride;
    }
    return rest;
  }
};
using RotationRows = BasicRotationRows<float>;

// Rotates row i of x by row i of the table, in place: x is [count, row_stride]; channels outside
// the span are unchanged.
void rotate_rows(float* x, std::int64_t row_stride, std::int64_t count,
                 const RotationRows& table) noexcept;

// Rows of several heads, which share the rows of a table. Strides count elements and may be
// anything; `out` is x itself with its strides, or apart from it.
template <class T>
struct RotatedHeads {
  const T* x = nullptr;
  T* out = nullptr;
  std::int64_t heads = 0;
  std::int64_t rows = 0;
  std::int64_t head_dim = 0;
  std::int64_t x_strides[3] = {};    // head, row, channel
  std::int64_t out_strides[3] = {};  // head, row, channel
  bool stream = false;  // non-temporal stores: for results larger than the caches, not in place
};

// out[h, i] = x[h, i] rotated by row i of the table; other channels are copied. Streamed results
// are visible to other threads after synchronisation.
void rotate_heads(const RotatedHeads<float>&, const BasicRotationRows<float>&) noexcept;
void rotate_heads(const RotatedHeads<bfloat16>&, const BasicRotationRows<float>&) noexcept;
void rotate_heads(const RotatedHeads<bfloat16>&, const BasicRotationRows<bfloat16>&) noexcept;
void rotate_heads(const RotatedHeads<float16>&, const BasicRotationRows<float>&) noexcept;
void rotate_heads(const RotatedHeads<float16>&, const BasicRotationRows<float16>&) noexcept;

}  // namespace sextant::kernels
