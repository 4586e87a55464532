// Candidates of the sinusoidal family: which column shows which frequency, the position of row 0,
// how fast frequencies fall, and the scale.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "identify/waves.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::identify {

// Options without base, whose frequencies are base^(-exponent * index of the step). Rarity says how
// much less usual they are than the plainest ones, in the unit of roundness.
struct Reading {
  Sinusoidal options;
  double exponent;
  double rarity;
};
// Members of the family whose columns have the same functions, with frequencies e^(slope * index)
// for one unknown slope. Steps are reduced to those that a fit uses; the first has frequency 1.
struct Structure {
  std::vector<Step> steps;
  std::vector<Reading> readings;
};
// Those of tables with a last column of zeros, or those without.
std::vector<Structure> structures_of(std::int64_t width, bool zero_column);

// Some roundings of the logarithm, the frequency and the product, in either arithmetic; that of
// frameworks includes exp(-k log(base) / n).
inline constexpr double kFloat64Angles = 0x1p-48;
inline constexpr double kFloat32Angles = 0x1p-20;
// Values whose noise is above this share of the scale say nothing.
inline constexpr double kUseless = 0.2;

// How far a value may be from the formula's: rounding when stored, and when the angle was computed.
struct Noise {
  double storage;  // relative to the value: unit roundoff of the type
  double tiny;     // below this magnitude the type has no more relative precision
  double angle;    // relative to the angle: kFloat64Angles or kFloat32Angles
};

// The fastest column, frequency 1: scale * sin(row + phase).
struct Wave {
  double scale;  // > 0
  double scale_error;
  double phase;
  double phase_error;
};
// Nothing when the first step is no wave of frequency 1 or the other pairs have another scale.
std::optional<Wave> measure_wave(View<const double> table, const Structure& structure,
                                 const Noise& noise);
// The slope on which at least four fifths of the steps agree.
std::optional<Frequency> measure_slope(View<const double> table, const Structure& structure,
                                       const Wave& wave, const Noise& noise);
// A row of zeros: padding, no position.
bool is_empty_row(View<const double> table, std::int64_t row);

struct Fit {
  std::int64_t first;
  double scale, scale_error;
  Frequency slope;
  bool slope_known;    // false when no row depends on it (row 0 of every table is the same)
  bool sure_of_first;  // false when other positions would fit as well
};
// Work for one table, in values looked at: all searches together stop after about a second of it.
inline constexpr double kMaxLooks = 2e7;
// Calls `accept` for every fit that the table allows, positions near 0 first, until it returns
// true. `far`: only positions beyond those of the near search, up to +-2^31.
bool search_fits(View<const double> table, const Structure& structure, const Noise& noise, bool far,
                 double& looks_left, const std::function<bool(const Fit&)>& accept);

}  // namespace sextant::identify
