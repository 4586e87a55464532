// Scales rotary positions by dynamic NTK (emozilla, 2023; Hugging Face's rope_type "dynamic"): the
// base grows with the length of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant {

// The base becomes base * (factor * L / max_length - (factor - 1))^(n / (n - 2)), where L is the
// length of the text but at least max_length, and n, more than 2, the number of rotated channels.
struct DynamicNtkScaling {
  static constexpr std::string_view name = "rotary_dynamic_ntk";  // name of the scheme
  double factor = 4;                                              // > 0, finite
  std::int64_t max_length = 4096;  // 1 .. 2^53; up to this length it is plain rotary
  // Length of the text, 0 .. 2^53; unset: the largest position + 1.
  std::optional<std::int64_t> length{};
};

// Returns the base for a text of this many tokens, within a few units in the last place; errors as
// ntk_base().
double dynamic_ntk_base(double base, std::int64_t rotary_dim, const DynamicNtkScaling& scaling,
                        std::int64_t length);

}  // namespace sextant
