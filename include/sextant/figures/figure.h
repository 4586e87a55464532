// Holds a figure: a picture, its numbers, and their names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {

// Describes a table [rows, columns] besides its numbers.
struct TableLabels {
  std::string title;
  std::string row_name = "Position";
  std::string column_name = "Dimension";
  // Returns the label of a row; called only for shown rows; empty: counted from first_row.
  std::function<std::string(std::int64_t)> row_label;
  // The same for the label above a column; empty: counted from first_column.
  std::function<std::string(std::int64_t)> column_label;
  std::string color_name = "Value";
  ColorMap map = ColorMap::diverging;
  std::optional<double> low, high;  // ends of the colour scale
  bool hides = false;               // -infinity is a hidden pair
  std::int64_t first_row = 0;
  std::int64_t first_column = 0;
  std::vector<ColumnGroup> column_groups = {};  // "sines", "cosines"
};

struct Figure {
  Picture picture;
  Tensor<double> values;             // the drawn numbers, [rows, columns]
  TableLabels labels;                // labels of `values`
  std::vector<std::string> columns;  // names of the columns if they are not dimensions
};

// Draws a table [rows, columns] as a heatmap, or tables [panels, rows, columns] side by side with
// one title each, at most `max_width` CSS pixels wide. Throws Error as draw(HeatmapPanels).
Picture table_map(View<const double> table, const TableLabels& labels,
                  std::vector<std::string> titles = {}, std::optional<double> max_width = {});

// Capitalises the first letter if it is ASCII: "rotary positions" -> "Rotary positions".
std::string capital(std::string text);

}  // namespace sextant::figures
