// Data inside a panel: lines with gaps where numbers are missing, and points.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "pictures/layout.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {

// Grows to hold what is added.
struct Bounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!(std::abs(value) <= kLargest)) {
      throw Error("chart.values", "must be within 1e300 of zero, got " + shortest(value));
    }
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

// Not finite points break the line. Many points per pixel are thinned to the first, lowest, highest
// and last of each column of pixels, which draws the same line.
void draw_trace(Drawing& drawing, const Panel& panel, const std::vector<double>& x,
                const std::vector<double>& y, std::size_t series);
void draw_trace_sample(Drawing& drawing, double x, double y, std::size_t series);  // for legends

// Markers; their size follows the room there is.
void draw_points(Drawing& drawing, const Panel& panel, const std::vector<double>& x,
                 const std::vector<double>& y, std::size_t series);

}  // namespace sextant::pictures
