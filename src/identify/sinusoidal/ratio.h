// How fast do the frequencies of a table fall from column to column? Read off neighbouring rows,
// without knowing the position.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "identify/sinusoidal/structure.h"
#include "sextant/core/tensor.h"

namespace sextant::identify {

// Some roundings of the logarithm, the frequency and the product, in either arithmetic; that of
// frameworks includes exp(-k log(base) / n).
inline constexpr double kFloat64Angles = 0x1p-48;
inline constexpr double kFloat32Angles = 0x1p-20;

// How far a value may be from the formula's: rounding when stored, and when the angle was computed.
struct Noise {
  double storage;  // relative to the value: unit roundoff of the type
  double tiny;     // below this magnitude the type has no more relative precision
  double angle;    // relative to the angle: kFloat64Angles or kFloat32Angles
  double of(double value) const noexcept;
};

// Values whose noise is above kUseless of the scale say nothing; a judgement needs kLeastUseful of
// all values.
inline constexpr double kUseless = 0.2;
inline constexpr double kLeastUseful = 0.2;

// The fastest column, frequency 1: scale * sin(row + phase).
struct Wave {
  double scale;            // > 0
  double scale_tolerance;  // about four standard deviations
  double phase;            // of row 0, radians; a negative scale is a phase half a turn further
  double phase_tolerance;
};

// A row of zeros: padding, no position.
bool is_empty_row(View<const double> table, std::int64_t row);

// Rows that are not all zero (a padding row is), at most `count` of them, spread evenly.
std::vector<std::int64_t> rows_to_look_at(View<const double> table, std::int64_t count);

// Nothing when the columns of the structure's first step are no sine and cosine of frequency 1, or
// the pairs of the others have no common scale.
std::optional<Wave> measure_wave(View<const double> table, const Structure& structure,
                                 const Noise& noise);

// An estimate of the logarithm of the ratio of neighbouring frequencies.
struct Ratio {
  double log;
  double variance;
};
// The best estimates first, falling frequencies before rising ones; none when the rows do not tell.
std::vector<Ratio> estimate_ratios(View<const double> table, const Structure& structure,
                                   const Wave& wave, const Noise& noise);

// At most `count` of the steps, all of the first ones among them: enough for a fit.
std::vector<Step> thinned(const std::vector<Step>& steps, std::size_t count);

}  // namespace sextant::identify
