// Words at the points of a curve.
#pragma once

#include <string>
#include <vector>

#include "pictures/layout.h"
#include "sextant/pictures/charts.h"

namespace sextant::pictures {

// From one point to the next: room for words that stand upright. Nearer points are discs with
// numbers.
inline constexpr double kWordPitch = 12;

// A dot at each of the first points of `series` and labels[k] beside point k: level where no word
// covers another or a dot, otherwise all upright. `line` is what is drawn through the points.
void draw_point_words(Drawing& drawing, const Panel& panel, const Series& series,
                      const Series& line, const std::vector<std::string>& labels);

}  // namespace sextant::pictures
