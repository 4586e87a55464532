// Data inside a panel: lines with gaps where numbers are missing, and points.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "pictures/layout.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

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

// Points that are not finite break the line. Many points per pixel are thinned to the first,
// lowest, highest and last of each column of pixels, which draws the same line; of those left, what
// straight pieces pass within `tolerance` pixels is left out. `index` chooses the colour.
void draw_trace(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index,
                double tolerance = 0);
// Grey, and a pixel off at most: there are many of them.
void draw_trace_behind(Drawing& drawing, const Panel& panel, const Series& series);
void draw_trace_sample(Drawing& drawing, double x, double y, std::size_t index);  // for legends

// Markers; their size follows the room there is.
void draw_points(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index);

// The first points as discs with their numbers, labels[k] in the tooltip of point k. Labels do not
// fit beside neighbouring points, numbers do: a legend says which is which. Where discs would cover
// each other, only every n-th has a number.
inline constexpr double kDisc = 7.7;  // radius
void draw_numbered_points(Drawing& drawing, const Panel& panel, const Series& series,
                          const std::vector<std::string>& labels);
// That legend. Returns the height used.
double draw_number_legend(Drawing& drawing, const std::vector<std::string>& labels, double left,
                          double top, double width);

}  // namespace sextant::pictures
