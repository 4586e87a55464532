// Tables as heatmaps, curves as tables.
#include "sextant/figures/figure.h"

#include <utility>

#include "figures/curves.h"

namespace sextant::figures {

Picture table_map(View<const double> table, const TableLabels& labels,
                  std::vector<std::string> titles, std::optional<double> max_width) {
  HeatmapPanels map;
  map.values = table;
  map.titles = std::move(titles);
  map.title = labels.title;
  map.x_label = labels.column_name;
  map.y_label = labels.row_name;
  map.color_label = labels.color_name;
  map.map = labels.map;
  map.low = labels.low;
  map.high = labels.high;
  map.hides = labels.hides;
  map.first_row = static_cast<double>(labels.first_row);
  map.first_column = static_cast<double>(labels.first_column);
  map.column_groups = labels.column_groups;
  map.max_width = max_width.value_or(map.max_width);
  return draw(map);
}

Figure curve_figure(const std::vector<Series>& curves) {
  const std::vector<double>& x = curves.at(0).x;
  const auto rows = static_cast<std::int64_t>(x.size());
  Figure plot{{}, Tensor<double>({rows, static_cast<std::int64_t>(curves.size()) + 1}), {}, {}};
  plot.columns = {"distance"};
  for (const Series& curve : curves) plot.columns.push_back(curve.name);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    plot.values(row, 0) = x[at];
    for (std::size_t i = 0; i < curves.size(); ++i) {
      plot.values(row, static_cast<std::int64_t>(i) + 1) = curves[i].y[at];
    }
  }
  plot.labels.row_name = "Row";
  plot.labels.column_name = "Distance, " + curves[0].name;
  return plot;
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

}  // namespace sextant::figures
