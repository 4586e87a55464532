// Rows of float32 tables from anchors and turns, and writing past the caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/sines/turn_columns.h"

namespace sextant::kernels {

// Where float32 rows go. Row `i` of anchor `r` is at out + (r * anchor_step + i) * row_stride.
struct FloatRows {
  float* out;
  std::int64_t row_stride;
  std::int64_t anchor_step;
  std::size_t width;  // columns to write, <= columns
  bool stream;  // past the caches; `out`, strides and width must be multiples of 64 bytes then
};
// Rows b_begin .. b_end - 1 of `anchors` (1 or 4 rounded rows, one after another) turned by those
// rows of b, rounded rows too, as float32. Each value has the same bits as static_cast<float>
// of turn_to_values. Bit r of suspicious[i] says whether row i of anchor r holds a suspicious
// value.
void turn_to_floats(const double* anchors, int anchor_count, const double* b, int b_begin,
                    int b_end, Suspicion suspicion, const FloatRows& rows, std::size_t columns,
                    std::uint8_t* suspicious) noexcept;

// Makes streamed stores visible to plain loads and stores of this thread and those it hands over
// to.
void finish_streaming() noexcept;

}  // namespace sextant::kernels
