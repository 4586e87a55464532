// Scales rotary frequencies by LongRoPE (Ding et al. 2024, 2402.13753): a separate divisor for
// every pair, one list for short texts and one for long ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sextant {

// Frequency k is base^(-2k / rotary_dim) / divisor k, from the long list if the text is longer than
// original_length. Cosines and sines are multiplied by the attention factor for both lists; it is 1
// for factors up to 1.
struct LongropeScaling {
  static constexpr std::string_view name = "rotary_longrope";  // name of the scheme
  std::vector<double> short_factor{};  // a divisor > 0 for each pair; empty: all 1
  std::vector<double> long_factor{};
  std::int64_t original_length = 4096;       // 2 .. 2^53; longer texts use the long list
  std::optional<std::int64_t> max_length{};  // 1 .. 2^53; length of the extended model
  std::optional<double> factor{};            // > 0; unset: max_length / original_length, else 1
  std::optional<double> attention_factor{};  // > 0; unset: sqrt(1 + ln factor / ln original_length)
  // Length of the text, 0 .. 2^53; unset: the largest position + 1.
  std::optional<std::int64_t> length{};
};

}  // namespace sextant
