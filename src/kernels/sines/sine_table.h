// Tables of sines and cosines: which columns there are, and the ways to fill rows of them.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/sines/turns.h"
#include "sextant/core/dtype.h"

namespace sextant::kernels {

// One column: scale * sin or cos of position * frequencies[frequency]; zero when frequency is -1.
struct SineColumn {
  std::int32_t frequency = -1;
  bool cosine = false;
};

struct SineTable {
  std::span<const Turns> frequencies;
  std::span<const SineColumn> columns;
  double scale = 1;  // finite
  // Doubles for numbers that are rounded to float32 or narrower later: as exact as those need, an
  // absolute error below 2^-51 times the scale and no cancellation, at half of the cost.
  bool narrow = false;
};

// The positions of the rows: listed, or consecutive from `first`. Each within +-2^53.
struct Positions {
  std::int64_t first = 0;
  std::int64_t count = 0;
  const std::int64_t* listed = nullptr;

  std::int64_t operator[](std::int64_t row) const noexcept {
    return listed != nullptr ? listed[row] : first + row;
  }
};

// out[row * row_stride + column], rounded once to T. The value of a position and a column has the
// same bits in any row of any call, with any number of threads, on one instruction set.
template <Floating T>
void fill_sines(const SineTable& table, const Positions& positions, T* out, std::int64_t row_stride,
                int threads);

// The same by one exact value at a time, about 100 ns per row and frequency; all but one in 2^45
// values are correctly rounded. For real positions, std::span<const double> within +-2^53, and for
// the few tables that fill_sines passes on. `Rows` is that or Positions.
template <Floating T, class Rows>
void fill_sines_one_by_one(const SineTable& table, const Rows& positions, std::int64_t rows, T* out,
                           std::int64_t row_stride, int threads);

// Computes frameworks' values in float32: the angle is float(position) * frequencies[k], rounded to
// float32; its sine or cosine correctly rounded to float32, times float(scale) in float32, then
// converted to T. `Position` is int64 or double.
template <Floating T, class Position>
void fill_sines_as_frameworks(std::span<const float> frequencies,
                              std::span<const SineColumn> columns, float scale,
                              std::span<const Position> positions, T* out, std::int64_t row_stride,
                              int threads);

// The double-double rounded once.
template <Floating T>
T round_to(DoubleDouble value) noexcept;

}  // namespace sextant::kernels
