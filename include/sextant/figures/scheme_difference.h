// Compares two tables of schemes: for example a mistake with the formula, or a scaling with plain
// rotary.
#pragma once

#include <cstdint>

#include "sextant/figures/figure.h"
#include "sextant/figures/scheme_array.h"

namespace sextant::figures {

struct SchemeDifference {
  Figure figure;         // second minus first; pairs that one of them hides have no number
  double largest = 0;    // the largest magnitude
  std::int64_t row = 0;  // its place, counted from 0 in the figure's values
  std::int64_t column = 0;
};

// Compares two schemes; `width` is that of added tables. Throws Error as plot_scheme(), with
// figure.schemes for tables of different shapes.
SchemeDifference plot_difference(const NamedScheme& first, const NamedScheme& second,
                                 const SchemeSizes& sizes, std::int64_t width);

}  // namespace sextant::figures
