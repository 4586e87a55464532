// Scales rotary frequencies as Llama 3.1 does (2407.21783; llama-models, apply_scaling).
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

// With theta = base^(-2k / rotary_dim) and t = original_length theta / (2 pi) turns over the length
// of training: theta if t > high, theta / factor if t < low, and between them (1 - u) theta /
// factor + u theta with u = (t - low) / (high - low). low = high is a step: nothing is divided by
// zero, and t = low = high keeps theta. Llama 3 has the base 500000.
struct Llama3Scaling {
  static constexpr std::string_view name = "rotary_llama3";  // name of the scheme
  double factor = 8;                    // > 0, finite; Llama 3.2 1B and 3B: 32, Llama 4 Scout: 16
  double low_freq_factor = 1;           // > 0; pairs with fewer turns than this are divided
  double high_freq_factor = 4;          // >= low_freq_factor; pairs with more turns are kept
  std::int64_t original_length = 8192;  // 1 .. 2^53; the length of training
};

}  // namespace sextant
