// The position of row 0, the ratio of frequencies and the scale of a table whose structure is
// supposed.
#pragma once

#include <cstdint>
#include <functional>

#include "identify/sinusoidal/ratio.h"
#include "identify/sinusoidal/structure.h"
#include "sextant/core/tensor.h"

namespace sextant::identify {

struct Fit {
  std::int64_t first;
  double scale;
  double scale_tolerance;
  Ratio ratio;         // what the whole sample says, one standard deviation squared
  bool ratio_known;    // false when no row depends on it (row 0 of every table is the same)
  bool sure_of_first;  // false when other positions would fit as well
};

// Work for one table, in values looked at: all searches together stop after about a second of it.
inline constexpr double kMaxValues = 2e7;

// Calls `accept` for every fit that the sample allows, positions near 0 first, until it returns
// true. `far`: only positions beyond those of the near search, up to +-2^31.
bool search_fits(View<const double> table, const Structure& structure, const Noise& noise, bool far,
                 double& values_left, const std::function<bool(const Fit&)>& accept);

}  // namespace sextant::identify
