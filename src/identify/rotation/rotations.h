// Caches of rotations: which frequency each pair has, and which rule made the frequencies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/identify/identify.h"

namespace sextant::identify {

// Cosines, sines, or both, [positions, pairs] of consecutive positions; what is missing has no
// elements.
struct Rotations {
  View<const double> cosines;
  View<const double> sines;

  bool has_cosines() const { return cosines.count() > 0; }
  bool has_sines() const { return sines.count() > 0; }
  std::int64_t rows() const { return has_cosines() ? cosines.size(0) : sines.size(0); }
  std::int64_t pairs() const { return has_cosines() ? cosines.size(1) : sines.size(1); }
};

// Unit roundoffs of the types to which numbers were rounded on the way to an angle; 0: not at all.
struct AngleRounding {
  double positions = 0, frequencies = 0, angles = 0;
};

// What fits all values, whatever rule made it: value = amplitude * cos or sin of (first + row) *
// frequencies[pair].
struct RotationFit {
  std::int64_t first = 0;
  double amplitude = 1;
  std::vector<double> frequencies;
  std::vector<double> errors;   // how far each may be off
  AngleRounding rounding = {};  // of what is made of them

  double relative_error(std::int64_t pair) const {
    const auto k = static_cast<std::size_t>(pair);
    return errors[k] / frequencies[k];
  }
};
std::optional<RotationFit> fit_rotations(const Rotations& given, double unit_roundoff);

// How near what these frequencies make is to the values; nothing when it is not within the
// roundings of the storage and of exact or float32 arithmetic.
struct RotationCheck {
  bool float32 = false;      // the angles were computed in float32
  double max_deviation = 0;  // |given - remade|
};
std::optional<RotationCheck> check_rotations(const Rotations& given, const RotationFit& fit,
                                             double unit_roundoff);

// The rule behind a fit; scheme "unknown" when the values are no rotations at all.
Identification name_rotations(const Rotations& given, double unit_roundoff);

}  // namespace sextant::identify
