// Linear position interpolation (Chen et al. 2023, 2306.15595): positions divided by a factor.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct RotaryLinear {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  double factor = 4;  // > 0, finite; how many times longer than in training
};

// Angle k is position * base^(-2k / rotary_dim) / factor; tables and errors as rotary().
template <Floating T = float>
RotationTable<T> rotary_linear(const RotaryLinear& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary_linear(const RotaryLinear& options,
                               std::span<const std::int64_t> positions);

RotationFrequencies rotation_frequencies(const RotaryLinear& options);

}  // namespace sextant
