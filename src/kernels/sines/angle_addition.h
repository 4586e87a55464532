// Sums of angles, as rows of sines and cosines with an angle per column: tables of positions
// consist of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant::kernels {

// A row holds, for `columns` columns (a multiple of kColumnPadding), sin | cos | low half of sin |
// low half of cos: an exact row in double-double. A rounded row is the first two alone. A table's
// column shows "sin"; a column of cosines starts a quarter turn ahead. Adding the angle b: sin' =
// sin cos_b + cos sin_b, cos' = cos cos_b - sin sin_b.
inline constexpr std::size_t kColumnPadding = 32;  // no vector of doubles is longer
constexpr std::size_t padded_columns(std::size_t columns) noexcept {
  return (columns + kColumnPadding - 1) / kColumnPadding * kColumnPadding;
}

// exact = a + b; relative error of the pair (sin, cos) below 2^-101. out may be a or b.
void add_angles_exactly(const double* a, const double* b, double* out,
                        std::size_t columns) noexcept;
// rounded = a + b, each within 0.5001 units in the last place of a double unless it is
// below 2^-35.
void add_angles_rounded(const double* a, const double* b, double* out,
                        std::size_t columns) noexcept;
// The same at lower cost: absolute error below 2^-53 when the values of a are at most 1, relative
// error below 2^-52 when the two products have the same sign. Without fused multiply-add it is the
// same function.
void add_angles_to_anchor(const double* a, const double* b, double* out,
                          std::size_t columns) noexcept;

// A value below the threshold may have lost accuracy by cancellation and is reported. OR-ing
// `guard` into the bits of a value of a column that cannot cancel raises it above any threshold;
// values must be below 2^512.
inline constexpr double kGuard = 0x1p513;  // only the uppermost bits of the exponent
struct CancellationTest {
  const double* guard;  // per column: 0 or kGuard
  double threshold;
};

// Thresholds for a scale of 1: a value below it is computed again from the exact angle. For
// float64, 2^-94 of error is 2^-6 units in the last place of 2^-35.
inline constexpr double kCancelled = 0x1p-15;
inline constexpr double kCancelledFloat64 = 0x1p-35;

// Values of one row, sin(anchor + b), for float32 and narrower: the sum of two products of doubles,
// absolute error below 2^-51.7 when the scale is 1. Returns whether a value may have cancelled.
bool sines_of_sums(const double* anchor, const double* b, CancellationTest cancellation,
                   double* out, std::size_t columns) noexcept;
// The same for float64, from exact rows: absolute error below 2^-94.
bool sines_of_exact_sums(const double* anchor, const double* b, CancellationTest cancellation,
                         double* out, std::size_t columns) noexcept;

// The columns of sines_of_sums() that may have cancelled, ascending; `found` has room for all.
// Returns how many.
std::size_t find_cancellations(const double* anchor, const double* b, CancellationTest cancellation,
                               std::int32_t* found, std::size_t columns) noexcept;

}  // namespace sextant::kernels
