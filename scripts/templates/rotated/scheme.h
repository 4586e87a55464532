// Rotations with evenly spaced frequencies (Authors year, arXiv id, section).
#pragma once

#include <cstdint>
#include <span>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct NewScheme {
  std::int64_t head_dim = 0;    // 2 .. 2^30
  std::int64_t rotary_dim = 0;  // even, <= head_dim; 0: all channels (head_dim must be even then)
  double base = 10000;          // > 0, finite
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Pair k of n is rotated by position x (1 - k (1 - 1 / base) / (n - 1)); accuracy as rotary().
// Throws Error when an option is out of its range.
template <Floating T = float>
RotationTable<T> new_scheme(const NewScheme& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> new_scheme(const NewScheme& options, std::span<const std::int64_t> positions);

RotationFrequencies rotation_frequencies(const NewScheme& options);

}  // namespace sextant
