// A figure: a picture, the numbers that it shows, and what they are called.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {

// What is known of a table [rows, columns] beside its numbers.
struct TableLabels {
  std::string title;
  std::string row_name = "Position";
  std::string column_name = "Dimension";
  // What stands beside a row, asked for rows that are shown only; empty: counted from first_row.
  std::function<std::string(std::int64_t)> row_label;
  // The same above a column; empty: counted from first_column.
  std::function<std::string(std::int64_t)> column_label;
  std::string color_name = "Value";
  ColorMap map = ColorMap::diverging;
  std::optional<double> low, high;  // of the colour scale
  bool hides = false;               // -infinity is a hidden pair
  std::int64_t first_row = 0;
  std::int64_t first_column = 0;
  std::vector<ColumnGroup> column_groups = {};  // "sines", "cosines"
};

struct Figure {
  Picture picture;
  Tensor<double> values;             // what is drawn, [rows, columns]
  TableLabels labels;                // of `values`
  std::vector<std::string> columns;  // their names, where they are no dimensions
};

// A table [rows, columns] as a heatmap, or tables [panels, rows, columns] with one title
// each side by side. Throws Error as draw(HeatmapPanels).
Picture table_map(View<const double> table, const TableLabels& labels,
                  std::vector<std::string> titles = {});

// "rotary positions" -> "Rotary positions": the first letter, when it is one of ASCII's.
std::string capital(std::string text);

}  // namespace sextant::figures
