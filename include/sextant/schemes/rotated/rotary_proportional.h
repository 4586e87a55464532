// Rotates only the fastest pairs of the whole head: proportional RoPE (Barbero et al. 2024,
// 2410.06205).
#pragma once

#include <string_view>

namespace sextant {

// With n channels and m = floor(proportion n / 2): pairs k < m have the frequency base^(-2k / n) /
// factor, the slower ones are not rotated (cosine 1, sine 0). The channels of a pair stay n / 2
// apart in the half-split layout: unlike rotary_dim, which pairs channels inside the rotated span.
struct ProportionalScaling {
  static constexpr std::string_view name = "rotary_proportional";  // name of the scheme
  double proportion = 0.25;                                        // 0 .. 1, share of the pairs
  double factor = 1;  // > 0, finite; frequencies are divided by it
};

}  // namespace sextant
