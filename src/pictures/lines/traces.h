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

// Grows to hold all added points.
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

// Draws a line, which breaks at points that are not finite. Many points per pixel are reduced to
// the first, lowest, highest and last of each column of pixels, which draws the same line; then
// points within `tolerance` pixels of a straight line are omitted. `index` chooses the colour.
void draw_trace(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index,
                double tolerance = 0);
// Grey, one path, and a pixel off at most: there are many of them.
void draw_traces_behind(Drawing& drawing, const Panel& panel, const std::vector<Series>& all);
void draw_trace_sample(Drawing& drawing, double x, double y, std::size_t index);  // for legends

// Markers; their size follows the room there is.
void draw_points(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index);

// Draws the first points as discs with their numbers, with labels[k] in the tooltip of point k.
// Labels do not fit next to near points, but numbers do: a legend explains them. If discs would
// cover each other, only every n-th has a number.
inline constexpr double kDisc = 7.7;  // radius
void draw_numbered_points(Drawing& drawing, const Panel& panel, const Series& series,
                          const std::vector<std::string>& labels);
// That legend. Returns the height used.
double draw_number_legend(Drawing& drawing, const std::vector<std::string>& labels, double left,
                          double top, double width);

}  // namespace sextant::pictures
