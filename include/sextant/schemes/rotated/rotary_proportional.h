// Proportional RoPE (Barbero et al. 2024, 2410.06205): only the fastest pairs of the whole head
// turn.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct RotaryProportional {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  double proportion = 0.25;  // 0 .. 1, of the pairs
  double factor = 1;         // > 0, finite; frequencies are divided by it
};

// With n channels and m = floor(proportion n / 2): pairs k < m have the frequency base^(-2k / n) /
// factor, the slower ones do not turn (cosine 1, sine 0). Partners stay n / 2 apart in the
// half-split layout: unlike rotary_dim, which pairs channels inside the turned span. Tables and
// errors as rotary().
template <Floating T = float>
RotationTable<T> rotary_proportional(const RotaryProportional& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary_proportional(const RotaryProportional& options,
                                     std::span<const std::int64_t> positions);

RotationFrequencies rotation_frequencies(const RotaryProportional& options);

}  // namespace sextant
