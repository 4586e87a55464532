// Columns that are sines and cosines of consecutive positions: how fast each turns.
#pragma once

#include <cstdint>
#include <optional>

#include "sextant/core/tensor.h"

namespace sextant::identify {

// Columns of one frequency; -1 where there is no such column.
struct Step {
  double index;  // of the frequency in its series; the first is 0
  std::int64_t sine = -1;
  std::int64_t cosine = -1;

  bool is_pair() const noexcept { return sine >= 0 && cosine >= 0; }
};

// Radians per row.
struct Frequency {
  double value;
  double error;
};

// Measures how far a wave turns between rows, first neighbours and then rows ever further apart.
// Needs two rows of a pair, three of a lone function. `noise` is that of a value, relative to the
// amplitude.
std::optional<Frequency> measure(View<const double> table, const Step& step, double amplitude,
                                 double noise);

// Fits amplitude * cos or sin((first + row) * frequency) to up to kMaxFitRows rows, from a
// frequency that is off by less than a turn: Gauss-Newton. Also returns the root of the mean square
// left.
struct FrequencyFit {
  Frequency frequency;
  double residual;
};
inline constexpr std::int64_t kMaxFitRows = 1024;
FrequencyFit refine(View<const double> table, const Step& step, double amplitude, double first,
                    double noise, double frequency);

}  // namespace sextant::identify
