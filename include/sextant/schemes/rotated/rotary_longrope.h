// LongRoPE (Ding et al. 2024, 2402.13753): a divisor of its own for every pair, one list for short
// texts and one for long ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct RotaryLongrope {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  std::vector<double> short_factor{};  // a divisor > 0 for each pair; empty: all 1
  std::vector<double> long_factor{};
  std::int64_t original_length = 4096;       // 2 .. 2^53; longer texts take the long list
  std::optional<std::int64_t> max_length{};  // 1 .. 2^53; of the stretched model
  std::optional<double> factor{};            // > 0; unset: max_length / original_length, else 1
  std::optional<double> attention_factor{};  // > 0; unset: sqrt(1 + ln factor / ln original_length)
  std::optional<std::int64_t> length{};  // of the text, 0 .. 2^53; unset: the largest position + 1
};

// Frequency k is base^(-2k / rotary_dim) / divisor k, of the long list when the text is longer than
// original_length. Cosines and sines are multiplied by the attention factor, which is 1 for factors
// up to 1, whichever the list. Tables and errors as rotary().
template <Floating T = float>
RotationTable<T> rotary_longrope(const RotaryLongrope& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary_longrope(const RotaryLongrope& options,
                                 std::span<const std::int64_t> positions);

// Of a text of this many tokens, unless options.length says otherwise.
RotationFrequencies rotation_frequencies(const RotaryLongrope& options, std::int64_t length = 0);

}  // namespace sextant
