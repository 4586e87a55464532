// Rows of float32 tables from anchors and offsets or from float64, and non-temporal stores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/sines/angle_addition.h"

namespace sextant::kernels {

// The destination of float32 rows. Row `i` of anchor `r` is at out + (r * anchor_step + i) *
// row_stride.
struct FloatRows {
  float* out;
  std::int64_t row_stride;
  std::int64_t anchor_step;
  std::size_t width;  // columns to write, <= columns
  bool stream;  // non-temporal stores; `out`, strides and width must be multiples of 64 bytes then
};
// Sines of the sums of `anchors` (1 or 4 rounded rows, one after another) and rows b_begin .. b_end
// - 1 of b, rounded rows too, as float32. Each value has the same bits as static_cast<float> of
// sines_of_sums. Bit r of cancelled[i] says whether row i of anchor r holds a value that cancelled.
void float_sines_of_sums(const double* anchors, int anchor_count, const double* b, int b_begin,
                         int b_end, CancellationTest cancellation, const FloatRows& rows,
                         std::size_t columns, std::uint8_t* cancelled) noexcept;

// to[i] = values[i] * factors[i], multiplied in float64 and rounded once.
void scaled_floats(const double* values, const double* factors, std::size_t count,
                   float* to) noexcept;

// Makes streamed stores visible to plain loads and stores of this thread and those it hands over
// to.
void finish_streaming() noexcept;

}  // namespace sextant::kernels
