// The wave of one pair of a cache of rotations.
#pragma once

#include <cstdint>
#include <optional>

#include "identify/rotation/rotations.h"

namespace sextant::identify {

inline constexpr std::int64_t kMaxRows = 1024;   // that a fit looks at
inline constexpr double kFrequencyNoise = 2e-7;  // relative: a float32 power and its rounding

// One pair: amplitude * cos or sin of phase + row * frequency.
struct PairWave {
  double phase = 0;
  double frequency = 0;
  double amplitude = 1;
  double phase_error = 0;
  double frequency_error = 0;
  double residual = 0;  // root of the mean square
};

// Least squares over the rows; a known phase or amplitude stays. `noise` is that of a value.
PairWave fit_pair(const Rotations& given, std::int64_t pair, double noise,
                  std::optional<double> phase, std::optional<double> amplitude);
// Better steps from a wave whose phase is first * frequency.
void refine_pair(const Rotations& given, std::int64_t pair, double noise, std::int64_t first,
                 PairWave& wave);

}  // namespace sextant::identify
