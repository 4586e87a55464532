// Which number somebody would have chosen near a measured one.
#pragma once

#include <span>

namespace sextant::identify {

// How unlikely a base is to be somebody's choice: 0 for 10000, 1 for other well-known ones, 1 +
// digits for the rest.
struct Base {
  double value;
  double roughness;
};
// 10000, then the other well-known ones.
std::span<const double> well_known_bases();

// The least rough base within a factor exp(+-tolerance) of `estimate`.
Base roundest_base(double estimate, double tolerance);
// The same for any positive number: the one with the fewest digits, roughness 1 + digits.
Base roundest_number(double estimate, double tolerance);

}  // namespace sextant::identify
