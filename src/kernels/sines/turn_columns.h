// Turning rows of sines and cosines by an angle per column: all a table of positions is made of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant::kernels {

// A row holds, for `columns` columns (a multiple of kColumnPadding), sin | cos | low half of sin |
// low half of cos: an exact row in double-double. A rounded row is the first two alone. A table's
// column shows "sin"; one that shows a cosine starts a quarter turn further. Turning by the angle
// b: sin' = sin cos_b + cos sin_b, cos' = cos cos_b - sin sin_b.
inline constexpr std::size_t kColumnPadding = 32;  // no vector of doubles is longer

// exact = a turned by b; relative error of the pair (sin, cos) below 2^-101. out may be a or b.
void turn_exactly(const double* a, const double* b, double* out, std::size_t columns) noexcept;
// rounded = a turned by b, each within 0.5001 units in the last place of a double unless it is
// below 2^-35.
void turn_and_round(const double* a, const double* b, double* out, std::size_t columns) noexcept;
// The same for less: each off by less than 2^-53 when the values of a are at most 1, and by less
// than 2^-52 of itself when its two products have the same sign. With no fused multiply-add it is
// the same.
void turn_to_anchor(const double* a, const double* b, double* out, std::size_t columns) noexcept;

// A value below the threshold whose terms cancelled is not good enough and is reported. OR-ing
// `guard` into the bits of a value of a column that cannot cancel lifts it above any threshold;
// values must be below 2^512.
inline constexpr double kGuard = 0x1p513;  // nothing but the uppermost bits of the exponent
struct Suspicion {
  const double* guard;  // per column: 0 or kGuard
  double threshold;
};

// Values of one row, sin of `anchor` turned by `b`, for float32 and narrower: the sum of two
// products of doubles, absolute error below 2^-51.7 when the scale is 1. Returns whether a value is
// suspicious.
bool turn_to_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                    std::size_t columns) noexcept;
// The same for float64, from exact rows: absolute error below 2^-94.
bool turn_to_exact_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                          std::size_t columns) noexcept;

// The columns whose turn_to_values is suspicious, ascending; `found` has room for all. Returns how
// many.
std::size_t find_suspicious(const double* anchor, const double* b, Suspicion suspicion,
                            std::int32_t* found, std::size_t columns) noexcept;

}  // namespace sextant::kernels
