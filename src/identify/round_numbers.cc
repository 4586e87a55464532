// Well-known bases, then numbers of few digits.
#include "identify/round_numbers.h"

#include <cmath>

#include "sextant/core/numbers.h"

namespace sextant::identify {
namespace {

// The paper's, then those of Llama 3 and Code Llama, MLX vision and tutorials.
constexpr double kWellKnownBases[] = {10000, 500000, 1000000, 1000, 100};

}  // namespace

std::span<const double> well_known_bases() { return kWellKnownBases; }

Base roundest_base(double estimate, double tolerance) {
  for (const double base : kWellKnownBases) {
    if (std::abs(std::log(base / estimate)) <= tolerance) return {base, base == 10000 ? 0.0 : 1.0};
  }
  return roundest_number(estimate, tolerance);
}

Base roundest_number(double estimate, double tolerance) {
  for (int digits = 1; digits < 17; ++digits) {
    const double rounded = parse_double(significant(estimate, digits), "base");
    if (std::abs(std::log(rounded / estimate)) <= tolerance) return {rounded, 1.0 + digits};
  }
  return {estimate, 18};
}

}  // namespace sextant::identify
