// Draws a dot per name on one axis, in groups.
#pragma once

#include <string>
#include <vector>

#include "sextant/pictures/canvas.h"

namespace sextant {

struct DotPlot {
  struct Dot {
    std::string name;
    double value = 0;  // >= 0 and finite
  };
  struct Group {
    std::string title;
    std::vector<Dot> dots;  // drawn from the largest to the smallest
  };
  std::string title, x_label;
  std::vector<Group> groups;
  // Smaller numbers are only rounding errors: they are drawn hollow at the left, above `nothing`; >
  // 0.
  double least = 1e-12;
  std::string nothing = "0";
  // CSS pixels of the picture, 280 or more: 350 suits a phone. Names that leave no room for dots
  // are above them.
  double max_width = 950;
};
// Draws the plot; the axis is logarithmic from `least`. Throws Error, naming dot_plot.<member>, for
// no dot, a number that is negative or not finite, and a `least` that is not positive, and a
// narrower max_width.
Picture draw(const DotPlot& plot);

}  // namespace sextant
