// Sizes of a matrix's cells: whole CSS pixels per element, or whole elements per pixel. A fraction
// of either would mix neighbours into colours that are not on the scale.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pictures/layout.h"
#include "pictures/matrices/words.h"
#include "sextant/pictures/charts.h"

namespace sextant::pictures {

// Rows or columns. Several elements share a cell where they are more than pixels.
struct Cells {
  std::int64_t elements = 1, block = 1;  // in all, and per cell
  double size = 1;                       // of a cell, in CSS pixels
  std::int64_t count() const { return (elements + block - 1) / block; }
  double length() const { return static_cast<double>(count()) * size; }
  double pitch() const { return size / static_cast<double>(block); }  // of one element
  double center(double element) const { return (element + 0.5) * pitch(); }
};

// About `room` pixels long, at most `most`, of cells up to `widest`.
Cells fitting_cells(std::int64_t elements, double room, double most, double widest);

// The places of everything besides the title. All places of cells are whole pixels.
struct HeatmapGrid {
  Cells rows, columns;
  Words at_left, below;
  std::int64_t across = 1;     // panels side by side
  double left = 0, pitch = 0;  // of the first panel, and from one to the next
  double row_room = 0, column_room = 0, group_room = 0;
  double bar_left = 0, bar_height = 0, bar_width = 0;
  Panel panel(std::int64_t index, double top) const;  // the first row of panels being at `top`
};

// Numbers of the elements whose centres the ticks mark.
Ticks element_ticks(const Cells& cells, double first, bool vertical);

inline constexpr double kGroupRoom = 20;    // for the names of groups of columns
inline constexpr double kMatrixTitle = 20;  // above a panel
// As many panels side by side as fit into panels.max_width, and smaller ones where one does not.
HeatmapGrid heatmap_grid(const HeatmapPanels& panels, View<const double> values, const Scale& scale,
                         const std::vector<std::string>& gaps);

}  // namespace sextant::pictures
