// A grid of equal panels that share both axes: one title, numbers only at the outer sides, one
// legend below.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pictures/layout.h"

namespace sextant::pictures {

struct SmallMultiples {
  std::vector<std::string> titles;  // one per panel, row by row
  std::size_t columns = 1;
  double panel_width = 300, panel_height = 180;
  Range x{}, y{};
  bool whole_x = true;  // x counts something
  std::string x_label, y_label;
};

// Draws the grid with its top left corner at the margin and calls `fill` for each panel. Returns
// the whole's right and bottom edges, margin excluded.
struct Extents {
  double left, right, bottom;
};
Extents draw_small_multiples(Drawing& drawing, const SmallMultiples& grid, double top,
                             const std::function<void(const Panel&, std::size_t)>& fill);

}  // namespace sextant::pictures
