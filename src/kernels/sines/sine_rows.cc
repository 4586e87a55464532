// Computes rows of a sine table one exact value at a time: for real positions and frameworks'
// values.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "kernels/sines/sine_table.h"
#include "sextant/core/parallel.h"

namespace sextant::kernels {
namespace {

// Fills rows from `evaluate(row, frequency)`, a sine and cosine, and `finish`, which makes a T of
// one of them.
template <Floating T, class Evaluate, class Finish>
void fill_rows(std::int64_t frequency_count, std::span<const SineColumn> columns, std::int64_t rows,
               T* out, std::int64_t row_stride, int threads, const Evaluate& evaluate,
               const Finish& finish) {
  // About 100 ns per value: some 50 us of work per task.
  const std::int64_t rows_per_task = 1 + 512 / (frequency_count + 1);
  parallel_for((rows + rows_per_task - 1) / rows_per_task, threads, [&](std::int64_t task) {
    std::vector<SineAndCosine> values(static_cast<std::size_t>(frequency_count));
    const std::int64_t begin = task * rows_per_task;
    const std::int64_t end = std::min(rows, begin + rows_per_task);
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t k = 0; k < frequency_count; ++k) values[k] = evaluate(row, k);
      T* to = out + row * row_stride;
      for (const SineColumn& column : columns) {
        *to++ = column.frequency < 0 ? T()
                                     : finish(column.cosine ? values[column.frequency].cos
                                                            : values[column.frequency].sin);
      }
    }
  });
}

// scale * value rounded once, for any finite scale: the power of two is applied last, so nothing
// overflows on the way.
template <Floating T>
T scaled(DoubleDouble value, DoubleDouble fraction, int exponent) noexcept {
  const DoubleDouble product = value * fraction;
  return round_to<T>({std::ldexp(product.hi, exponent), std::ldexp(product.lo, exponent)});
}

}  // namespace

template <Floating T>
T round_to(DoubleDouble value) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return value.hi;
  } else {
    // Rounded to odd first: a double whose last bit says "and a little more" cannot be a midpoint
    // of the narrower type, so the second rounding decides as if it saw every bit.
    auto bits = std::bit_cast<std::uint64_t>(value.hi);
    if (value.lo != 0 && (bits & 1) == 0) {
      bits = (value.lo > 0) == (value.hi > 0) ? bits + 1 : bits - 1;
    }
    return static_cast<T>(std::bit_cast<double>(bits));
  }
}

template <Floating T, class Rows>
void fill_sines_one_by_one(const SineTable& table, const Rows& positions, std::int64_t rows, T* out,
                           std::int64_t row_stride, int threads) {
  int exponent = 0;
  const DoubleDouble fraction = {std::frexp(table.scale, &exponent), 0};
  fill_rows<T>(
      static_cast<std::int64_t>(table.frequencies.size()), table.columns, rows, out, row_stride,
      threads,
      [&](std::int64_t row, std::int64_t k) {
        return sine_and_cosine(table.frequencies[k], positions[row]);
      },
      [&](DoubleDouble value) { return scaled<T>(value, fraction, exponent); });
}

template <Floating T, class Position>
void fill_sines_as_frameworks(std::span<const float> frequencies,
                              std::span<const SineColumn> columns, float scale,
                              std::span<const Position> positions, T* out, std::int64_t row_stride,
                              int threads) {
  static const Turns radian = turns_of(WideFloat(1.0));
  fill_rows<T>(
      static_cast<std::int64_t>(frequencies.size()), columns,
      static_cast<std::int64_t>(positions.size()), out, row_stride, threads,
      [&](std::int64_t row, std::int64_t k) {
        const float angle = static_cast<float>(positions[row]) * frequencies[k];
        return sine_and_cosine(radian, static_cast<double>(angle));
      },
      [&](DoubleDouble value) { return static_cast<T>(round_to<float>(value) * scale); });
}

#define SEXTANT_INSTANTIATE(T)                                                                   \
  template T round_to<T>(DoubleDouble) noexcept;                                                 \
  template void fill_sines_one_by_one(const SineTable&, const Positions&, std::int64_t, T*,      \
                                      std::int64_t, int);                                        \
  template void fill_sines_one_by_one(const SineTable&, const std::span<const double>&,          \
                                      std::int64_t, T*, std::int64_t, int);                      \
  template void fill_sines_as_frameworks(std::span<const float>, std::span<const SineColumn>,    \
                                         float, std::span<const std::int64_t>, T*, std::int64_t, \
                                         int);                                                   \
  template void fill_sines_as_frameworks(std::span<const float>, std::span<const SineColumn>,    \
                                         float, std::span<const double>, T*, std::int64_t, int);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
