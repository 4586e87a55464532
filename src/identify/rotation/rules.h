// Rules that may have made the frequencies of a fit. Measurements suggest a scheme and its
// parameters; which frequencies those make, the scheme itself says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "identify/rotation/rotations.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::identify {

struct RotationRule {
  std::string scheme;  // of the list of schemes
  std::map<std::string, std::string> parameters;
  std::string sentence;
  RotationFrequencies made = {};
};
using AcceptRule = std::function<bool(const RotationRule&)>;

// Fills `made`; returns false where a parameter is outside the scheme's range.
bool make(RotationRule& rule, std::int64_t pairs);

// Calls `accept` with the likeliest rules first until it returns true.
bool search_rules(const RotationFit& fit, const AcceptRule& accept);
// Those of this base that keep fast pairs and divide slow ones: Llama 3 and YaRN.
bool search_rules_by_parts(const RotationFit& fit, double base, const AcceptRule& accept);

// A straight line by weighted least squares: y = start + slope * x.
struct WeightedLine {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;

  void add(double x, double y, double error_of_y) {
    const double weight = 1 / (error_of_y * error_of_y);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  double determinant() const { return w * wxx - wx * wx; }
  double slope() const { return (w * wxy - wx * wy) / determinant(); }
  double start() const { return (wxx * wy - wx * wxy) / determinant(); }
};

}  // namespace sextant::identify
