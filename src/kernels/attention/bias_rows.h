// What terms of scores add to the rows of a tile: numbers, a straight line, products.
#pragma once

#include <cstdint>

namespace sextant::kernels {

// to[n] += from[n] for n < count.
void add_row(const float* from, std::int64_t count, float* to) noexcept;

// to[n] += slope from[n] + intercept, each operation rounded to float64 and the sum of both to
// float32.
void add_line(const double* from, double slope, double intercept, std::int64_t count,
              float* to) noexcept;

// to[n] += factor from[n step], with step -1, 0 or 1, where to[n] is not -infinity: hidden pairs
// stay hidden, whatever `from` holds for them.
void add_to_visible(const float* from, std::int64_t step, float factor, std::int64_t count,
                    float* to) noexcept;

}  // namespace sextant::kernels
