// Caches of rotations: the frequency of each pair, the rules that may have made them, the rule that
// did.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "identify/waves.h"
#include "sextant/core/tensor.h"
#include "sextant/identify/identify.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::identify {

// [positions, columns] of consecutive positions; pair k is in the columns of steps[k].
struct Rotations {
  View<const double> table;
  std::vector<Step> steps;

  std::int64_t pairs() const { return std::ssize(steps); }
};

// value = amplitude * cos or sin of (first + row) * frequency.
struct RotationFit {
  std::int64_t first = 0;
  double amplitude = 1;
  std::vector<Frequency> frequencies;

  double relative_error(std::int64_t pair) const {
    const Frequency& f = frequencies[static_cast<std::size_t>(pair)];
    return f.error / f.value;
  }
};
inline constexpr double kFrequencyNoise = 2e-7;  // relative: a float32 power and its rounding
// Nothing where no frequencies fit the values.
std::optional<RotationFit> fit_rotations(const Rotations& given, double unit_roundoff);

// A scheme of the registry with parameters, and the frequencies that it makes.
struct RotationRule {
  std::string scheme;
  std::map<std::string, std::string> parameters;
  std::string sentence;
  RotationFrequencies made = {};
};
// Fills `made`; returns false where a parameter is outside the scheme's range.
bool make(RotationRule& rule, std::int64_t pairs);
// The plain rule of a base.
RotationRule plain_rule(double base);
// Calls `accept` with the candidates near a fit, likeliest first, until it returns true.
bool search_rules(const RotationFit& fit, const std::function<bool(const RotationRule&)>& accept);

// Scheme "unknown" when the values are no rotations at all.
Identification name_rotations(const Rotations& given, double unit_roundoff);
// Frequencies alone, [pairs] without strides and nowhere rising, as a buffer inv_freq holds them.
Identification name_frequencies(View<const double> frequencies, double unit_roundoff);

}  // namespace sextant::identify
