// Dynamic NTK scaling (emozilla, 2023; Hugging Face's rope_type "dynamic"): the base grows with the
// length of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct RotaryDynamicNtk {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  double factor = 4;                     // > 0, finite
  std::int64_t max_length = 4096;        // 1 .. 2^53; up to here it is plain rotary
  std::optional<std::int64_t> length{};  // of the text, 0 .. 2^53; unset: the largest position + 1
};

// Rotary with the base base * (factor * L / max_length - (factor - 1))^(n / (n - 2)), where L is
// the length of the text but at least max_length, and n, more than 2, the number of channels that
// turn. Tables and errors as rotary().
template <Floating T = float>
RotationTable<T> rotary_dynamic_ntk(const RotaryDynamicNtk& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary_dynamic_ntk(const RotaryDynamicNtk& options,
                                    std::span<const std::int64_t> positions);

// Of a text of this many tokens, unless options.length says otherwise.
RotationFrequencies rotation_frequencies(const RotaryDynamicNtk& options, std::int64_t length = 0);
// The base for a text of this many tokens, within a few units in the last place.
double rotary_dynamic_ntk_base(const RotaryDynamicNtk& options, std::int64_t length);

}  // namespace sextant
