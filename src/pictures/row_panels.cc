// The vectors of chosen positions side by side.
#include <cmath>

#include "pictures/small_multiples.h"
#include "pictures/traces.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

Picture draw(const RowPanels& panels) {
  const auto& table = panels.table;
  if (table.rank() != 2 || table.count() == 0) {
    throw Error("row_panels.table",
                "must be [length, width] and not empty, got " + table.shape().to_string());
  }
  if (panels.rows.empty()) throw Error("row_panels.rows", "must not be empty");
  const auto width = static_cast<std::size_t>(table.size(1));
  SmallMultiples grid;
  Bounds y;
  for (const std::int64_t row : panels.rows) {
    if (row < 0 || row >= table.size(0)) {
      throw Error("row_panels.rows", "must be in 0 .. " + std::to_string(table.size(0) - 1) +
                                         ", got " + std::to_string(row));
    }
    grid.titles.push_back("Position " + std::to_string(panels.first + row));
    for (std::size_t i = 0; i < width; ++i) {
      if (std::isfinite(table(row, i))) y.add(table(row, i));
    }
  }
  if (y.empty()) throw Error("row_panels.table", "must have a finite number in the rows");
  grid.x = range_of(0, static_cast<double>(width - 1), 0.02);
  grid.y = range_of(y.low, y.high, 0.06);
  grid.x_label = "Dimension";
  grid.columns = std::min<std::size_t>(3, panels.rows.size());
  grid.panel_width = 310;
  grid.panel_height = 210;

  std::vector<double> at(width), values(width);
  for (std::size_t i = 0; i < width; ++i) at[i] = static_cast<double>(i);
  Drawing drawing;
  const Extents extents =
      draw_small_multiples(drawing, grid, kMargin, [&](const Panel& panel, std::size_t i) {
        for (std::size_t j = 0; j < width; ++j) values[j] = table(panels.rows[i], j);
        draw_points(drawing, panel, at, values, 0);
      });
  return drawing.finish(extents.right + kMargin, extents.bottom + kMargin - 6,
                        "Rows of the position table");
}

}  // namespace sextant
