// Llama 3.1's scaling of rotary frequencies (2407.21783; llama-models, apply_scaling).
#pragma once

#include <cstdint>
#include <span>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct RotaryLlama3 {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 500000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  double factor = 8;                    // > 0, finite; Llama 3.2 1B and 3B: 32, Llama 4 Scout: 16
  double low_freq_factor = 1;           // > 0; pairs with fewer turns than this are divided
  double high_freq_factor = 4;          // >= low_freq_factor; pairs with more turns are kept
  std::int64_t original_length = 8192;  // 1 .. 2^53; the length of training
};

// With theta = base^(-2k / rotary_dim) and t = original_length theta / (2 pi) turns over the length
// of training: theta where t > high, theta / factor where t < low, and between them (1 - u) theta /
// factor + u theta with u = (t - low) / (high - low). low = high is a step: nothing is divided by
// zero, and t = low = high keeps theta. Tables and errors as rotary().
template <Floating T = float>
RotationTable<T> rotary_llama3(const RotaryLlama3& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary_llama3(const RotaryLlama3& options,
                               std::span<const std::int64_t> positions);

RotationFrequencies rotation_frequencies(const RotaryLlama3& options);

}  // namespace sextant
