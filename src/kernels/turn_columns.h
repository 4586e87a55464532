// Turning rows of sines and cosines by an angle per column: all a table of positions is made of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant {

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

// A value below the threshold whose terms cancelled is not good enough and is reported. OR-ing
// `guard` into the bits of a value of a column that cannot cancel lifts it above any threshold;
// values must be below 2^512.
inline constexpr double kGuard = 0x1p513;  // nothing but the uppermost bits of the exponent
struct Suspicion {
  const double* guard;  // per column: 0 or kGuard
  double threshold;
};

// Values of one row, sin of `anchor` turned by `b`, for float32 and narrower: the sum of two
// products of doubles, absolute error below 2^-52 relative to the scale. Returns whether a value is
// suspicious.
bool turn_to_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                    std::size_t columns) noexcept;
// The same for float64, from exact rows: absolute error below 2^-94.
bool turn_to_exact_values(const double* anchor, const double* b, Suspicion suspicion, double* out,
                          std::size_t columns) noexcept;

// Where float32 rows go. Row `i` of anchor `r` is at out + (r * anchor_step + i) * row_stride.
struct FloatRows {
  float* out;
  std::int64_t row_stride;
  std::int64_t anchor_step;
  std::size_t width;  // columns to write, <= columns
  bool stream;  // past the caches; `out`, strides and width must be multiples of 64 bytes then
};
// Rows b_begin .. b_end - 1 of `anchors` (1 or 4 rounded rows, one after another) turned by those
// rows of the exact table b, rounded to float32. Each value has the same bits as static_cast<float>
// of turn_to_values. Bit r of suspicious[i] says whether row i of anchor r holds a suspicious
// value.
void turn_to_floats(const double* anchors, int anchor_count, const double* b, int b_begin,
                    int b_end, Suspicion suspicion, const FloatRows& rows, std::size_t columns,
                    std::uint8_t* suspicious) noexcept;

// Makes streamed stores visible to plain loads and stores of this thread and those it hands over
// to.
void finish_streaming() noexcept;

// Writes `value` over count floats past the caches: the yardstick of the benchmarks. `out` at a
// multiple of 64 bytes.
void stream_fill(float* out, std::size_t count, float value) noexcept;

}  // namespace sextant
