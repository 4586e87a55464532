// Embeds a diffusion model's time (Ho et al. 2020, 2006.11239): sines and cosines of a real number.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// Angle k of time t is scale * t * max_period^(-k / (half - downscale_freq_shift)) for k = 0 ..
// half - 1, half = floor(width / 2). The defaults are those of diffusers' get_timestep_embedding;
// Stable Diffusion has flip_sin_to_cos and a shift of 0.
struct Timestep {
  std::int64_t width = 0;           // 2 .. 2^30; if it is odd, the last column is zero
  bool flip_sin_to_cos = false;     // all cosines first, instead of all sines
  double downscale_freq_shift = 1;  // finite, below half
  double scale = 1;                 // factor of the time; finite
  double max_period = 10000;        // > 0, finite
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Returns [times.size(), width], each value within 0.5001 units in the last place of the exact one.
// Times are real, finite, and within +-2^53. Throws Error if an option is out of its range or a
// frequency above 2^64.
template <Floating T = float>
Tensor<T> timestep(const Timestep& options, std::span<const double> times);
// Returns the same for whole times, many times faster.
template <Floating T = float>
Tensor<T> timestep(const Timestep& options, std::span<const std::int64_t> times);

}  // namespace sextant
