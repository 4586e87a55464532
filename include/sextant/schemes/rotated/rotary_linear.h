// Scales rotary positions by linear interpolation (Chen et al. 2023, 2306.15595; kaiokendev, 2023).
#pragma once

#include <string_view>

namespace sextant {

// Frequency k is base^(-2k / rotary_dim) / factor.
struct LinearScaling {
  static constexpr std::string_view name = "rotary_linear";  // name of the scheme
  double factor = 4;  // > 0, finite; new length over trained length
};

}  // namespace sextant
