// Words at the points of a curve.
#pragma once

#include <string>
#include <vector>

#include "pictures/layout.h"
#include "sextant/pictures/charts.h"

namespace sextant::pictures {

// The distance between points that upright words need. Nearer points are discs with numbers.
inline constexpr double kWordPitch = 12;

// Draws a dot at each of the first points of `series` and labels[k] next to point k: horizontal if
// no word covers another or a dot, otherwise all upright. `line` is the line through the points.
void draw_point_words(Drawing& drawing, const Panel& panel, const Series& series,
                      const Series& line, const std::vector<std::string>& labels);

}  // namespace sextant::pictures
