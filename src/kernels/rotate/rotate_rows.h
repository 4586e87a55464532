// Rotation of pairs of channels by rows of cosines and sines.
//
// The arithmetic of one pair is the same in every kernel that turns, so that all give the same bits
// on one instruction set (Highway's MulAdd: one rounding where the processor has it, else two):
//   y1 = NegMulAdd(x2, sin, x1 * cos)    the partner's product is fused, one's own is rounded
//   y2 = MulAdd(x1, sin, x2 * cos)
// in float32, whatever the storage; 16-bit results are rounded once more, to nearest, ties to even.
// Each y is within u (|x1| + |x2|) (2 + u) of the true one for |cos|, |sin| <= 1, u = 2^-24: one
// rounding of a product and one of the sum (without fused operations, of two products). Turning
// back takes the negated sine.
#pragma once

#include <cstdint>

#include "sextant/core/dtype.h"

namespace sextant::kernels {

// Cosines and sines: row i at cos + place(i) * stride and sin + place(i) * stride, `pairs` of each.
template <class U>
struct BasicRotationRows {
  const U* cos = nullptr;
  const U* sin = nullptr;
  std::int64_t stride = 0;  // elements; 0 turns all rows alike
  std::int64_t pairs = 0;
  std::int64_t first_channel = 0;        // the span that turns has 2 * pairs channels from here
  bool interleaved = false;              // pair k is (2k, 2k + 1) of the span, else (k, k + pairs)
  bool inverse = false;                  // by the opposite angles
  const std::int64_t* places = nullptr;  // row i is row places[i] of the table; null: row i

  std::int64_t place(std::int64_t i) const noexcept { return places == nullptr ? i : places[i]; }
  // The rows from `first` on.
  BasicRotationRows from(std::int64_t first) const noexcept {
    BasicRotationRows rest = *this;
    if (places != nullptr) {
      rest.places += first;
    } else {
      rest.cos += first * stride;
      rest.sin += first * stride;
    }
    return rest;
  }
};
using RotationRows = BasicRotationRows<float>;

// Turns row i of x by row i of the table, in place: x is [count, row_stride], of which channels
// outside the span are left alone.
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
  bool stream = false;               // write past the caches: for more than they hold, not in place
};

// out[h, i] = x[h, i] turned by row i of the table; other channels are copied. What was streamed is
// visible to other threads after a hand-over.
void rotate_heads(const RotatedHeads<float>&, const BasicRotationRows<float>&) noexcept;
void rotate_heads(const RotatedHeads<bfloat16>&, const BasicRotationRows<float>&) noexcept;
void rotate_heads(const RotatedHeads<bfloat16>&, const BasicRotationRows<bfloat16>&) noexcept;
void rotate_heads(const RotatedHeads<float16>&, const BasicRotationRows<float>&) noexcept;
void rotate_heads(const RotatedHeads<float16>&, const BasicRotationRows<float16>&) noexcept;

}  // namespace sextant::kernels
