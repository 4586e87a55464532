// Computes CAPE: sinusoidal positions of ids that training shifts, jitters and stretches at random
// (Likhomanenko et al. 2021, 2106.03143, section 3.1, in one dimension).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// The defaults change no position: the table for tests.
struct Cape {
  std::int64_t width = 0;         // columns, 1 .. 2^30
  double base = 10000;            // >= 1, finite
  double max_global_shift = 0;    // in positions, 0 .. 2^53: one shift of all is drawn from +- it
  double max_local_shift = 0;     // 0 .. 2^53: one shift per row is drawn from +- half of it
  double max_global_scaling = 1;  // 1 .. 2^20: one factor of all is drawn from 1 / it .. it
  bool normalize = false;         // subtract (length - 1) / 2 first
  std::optional<std::int64_t> length = std::nullopt;  // of the text, 1 .. 2^53; unset: the largest
                                                      // position + 1; used by normalize
  double freq_scale = 1;   // multiplies every frequency, above 0, at most 2^30
  std::uint32_t seed = 0;  // of the random numbers; another one for each text and step
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Returns the positions after the changes, in float64: x = (p - mean + shift + shift_n) factor for
// row n. Numbers are drawn with NumpyRandom(seed).uniform() whatever the limits are: the first for
// the shift, the second for the factor, whose logarithm is uniform, then one for each row. Throws
// Error if an option is out of its range or a position, also after the changes, is beyond +-2^53.
std::vector<double> cape_positions(const Cape& options, std::span<const std::int64_t> positions);

// Returns the table [positions.size(), width]: with w_k = freq_scale base^(-2k / width), sin(x w_k)
// in column 2k and cos(x w_k) in column 2k + 1, of the positions x above; correctly rounded. Throws
// the same errors.
template <Floating T = float>
Tensor<T> cape(const Cape& options, std::span<const std::int64_t> positions);

}  // namespace sextant
