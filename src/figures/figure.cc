// Tables as maps of colours.
#include "sextant/figures/figure.h"

namespace sextant::figures {

Picture table_map(View<const double> table, const TableLabels& labels) {
  Heatmap map;
  map.values = table;
  map.title = labels.title;
  map.x_label = labels.column_name;
  map.y_label = labels.row_name;
  map.color_label = labels.color_name;
  map.map = labels.map;
  map.low = labels.low;
  map.high = labels.high;
  map.first_row = static_cast<double>(labels.first_row);
  map.first_column = static_cast<double>(labels.first_column);
  return draw(map);
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

}  // namespace sextant::figures
