// Which column of a table could show which function of which frequency, before any base is known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::identify {

// Columns that share the frequency ratio^index; -1 where there is no such column.
struct Step {
  std::int64_t index;
  std::int64_t sine = -1;
  std::int64_t cosine = -1;
};

// All members of the family whose columns show the same functions: their frequencies are a
// geometric series in `index` with one unknown ratio, whatever ladder, exponent and base made it.
struct Structure {
  SinusoidalLayout layout;
  std::vector<OddWidth> odd_widths;  // the rules that lead here; none for an even width
  bool unpaired;            // a cosine has a frequency between its sine's and the next one's
  std::vector<Step> steps;  // by index; the first is 0, frequency 1
};

// The structures of tables of this width; those for a last column of zeros, or those without.
std::vector<Structure> structures_of(std::int64_t width, bool zero_column);

// One way to name a structure with a given ratio: the options without base, and the exponent of one
// step, so that ratio = base^-exponent_per_step.
struct Reading {
  Sinusoidal options;
  double exponent_per_step;
  double rarity;  // how much less usual than the plainest reading, in the unit of base_roughness
};
std::vector<Reading> readings_of(const Structure& structure, std::int64_t width);

}  // namespace sextant::identify
