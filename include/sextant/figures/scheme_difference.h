// Two tables of schemes and how far they are apart: a mistake beside the formula, a scaling beside
// plain rotary.
#pragma once

#include <cstdint>

#include "sextant/figures/figure.h"
#include "sextant/figures/scheme_array.h"

namespace sextant::figures {

struct SchemeDifference {
  Figure figure;         // second minus first; pairs that one of them hides have no number
  double largest = 0;    // in magnitude
  std::int64_t row = 0;  // where it is, counted from 0 in the figure's values
  std::int64_t column = 0;
};

// `width` is that of added tables. Throws Error as plot_scheme(), naming figure.schemes for tables
// of different shapes.
SchemeDifference plot_difference(const NamedScheme& first, const NamedScheme& second,
                                 const SchemeSizes& sizes, std::int64_t width);

}  // namespace sextant::figures
