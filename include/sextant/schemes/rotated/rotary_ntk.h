// NTK-aware scaling (bloc97, 2023; YaRN, 2309.00071, section 3.1): rotary with a larger base.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct RotaryNtk {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  double factor = 4;  // > 0, finite; new length over trained length
};

// Rotary with the base base * factor^(n / (n - 2)), where n is the number of channels that turn,
// more than 2: the last pair is slowed by exactly the factor, the first one not at all. Tables and
// errors as rotary().
template <Floating T = float>
RotationTable<T> rotary_ntk(const RotaryNtk& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary_ntk(const RotaryNtk& options, std::span<const std::int64_t> positions);

RotationFrequencies rotation_frequencies(const RotaryNtk& options);
// The larger base, within a few units in the last place; throws as rotary_ntk().
double rotary_ntk_base(const RotaryNtk& options);

}  // namespace sextant
