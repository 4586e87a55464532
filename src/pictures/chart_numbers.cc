// Copies of what charts draw.
#include "pictures/chart_numbers.h"

#include <utility>

#include "core/options/enum_names.h"
#include "pictures/matrices/words.h"

namespace sextant::pictures {
namespace {

using Kind = ChartNumbers::Kind;

PictureNumbers single(ChartNumbers numbers) {
  return {std::make_shared<const ChartNumbers>(std::move(numbers))};
}

// A panel per matrix of [panels, rows, columns]; `title_of(i)` names it.
template <class F>
std::vector<ChartNumbers::Panel> matrices(View<const double> values, const F& title_of) {
  std::vector<ChartNumbers::Panel> panels;
  for (std::int64_t i = 0; i < values.size(0); ++i) {
    panels.emplace_back().title = title_of(i);
    panels.back().arrays.push_back({"", copy_of(values.select(0, i))});
  }
  return panels;
}

// AttentionMaps and AttentionLines.
template <class Chart>
ChartNumbers weights_of(const Chart& chart, View<const double> weights) {
  ChartNumbers numbers{.title = chart.title, .value_label = "Weight"};
  numbers.panels = matrices(weights, [&](std::int64_t head) {
    return weights.size(0) == 1 ? std::string() : head_name(chart.heads, head);
  });
  numbers.row_labels = chart.queries;
  numbers.column_labels = chart.keys;
  numbers.map = ColorMap::sequential;
  numbers.high = 1;
  return numbers;
}

Tensor<double> points_of(const Series& series) {
  const bool banded = !series.low.empty();
  Tensor<double> points({static_cast<std::int64_t>(series.x.size()), banded ? 4 : 2});
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    points(row, 0) = series.x[i];
    points(row, 1) = series.y[i];
    if (!banded) continue;
    points(row, 2) = series.low[i];
    points(row, 3) = series.high[i];
  }
  return points;
}

}  // namespace

PictureNumbers numbers_of(const HeatmapPanels& panels, View<const double> values,
                          const Scale& scale) {
  ChartNumbers numbers{.title = panels.title,
                       .x_label = panels.x_label,
                       .y_label = panels.y_label,
                       .value_label = panels.color_label};
  numbers.panels = matrices(values, [&](std::int64_t i) {
    return panels.titles.empty() ? std::string() : panels.titles[static_cast<std::size_t>(i)];
  });
  numbers.row_labels = panels.row_labels;
  numbers.column_labels = panels.column_labels;
  numbers.first_row = panels.first_row;
  numbers.first_column = panels.first_column;
  numbers.map = scale.map;
  numbers.low = scale.low;
  numbers.high = scale.high;
  return single(std::move(numbers));
}

PictureNumbers numbers_of(const AttentionMaps& maps, View<const double> weights,
                          const Scale& scale) {
  ChartNumbers numbers = weights_of(maps, weights);
  numbers.x_label = maps.column_name;
  numbers.y_label = maps.row_name;
  numbers.map = scale.map;
  numbers.low = scale.low;
  numbers.high = scale.high;
  return single(std::move(numbers));
}

PictureNumbers numbers_of(const AttentionLines& lines, View<const double> weights) {
  ChartNumbers numbers = weights_of(lines, weights);
  numbers.x_label = lines.right_name;
  numbers.y_label = lines.left_name;
  return single(std::move(numbers));
}

PictureNumbers numbers_of(const LinePanels& chart) {
  ChartNumbers numbers{.kind = chart.points ? Kind::points : Kind::lines,
                       .title = chart.title,
                       .x_label = chart.x_label,
                       .y_label = chart.y_label};
  numbers.row_labels = chart.point_labels;
  numbers.log_x = chart.log_x;
  numbers.log_y = chart.log_y;
  for (const LinePanel& panel : chart.panels) {
    ChartNumbers::Panel& made = numbers.panels.emplace_back();
    made.title = panel.title;
    made.curve = points_of(panel.curve);
    for (const Series& series : panel.series)
      made.arrays.push_back({series.name, points_of(series)});
  }
  return single(std::move(numbers));
}

PictureNumbers numbers_of(const DotPlot& plot) {
  PictureNumbers charts;
  for (const DotPlot::Group& group : plot.groups) {
    ChartNumbers numbers{.kind = Kind::dots, .title = group.title, .x_label = plot.x_label};
    Tensor<double> values({static_cast<std::int64_t>(group.dots.size()), 1});
    for (std::size_t i = 0; i < group.dots.size(); ++i) {
      numbers.row_labels.push_back(group.dots[i].name);
      values(static_cast<std::int64_t>(i), 0) = group.dots[i].value;
    }
    numbers.log_x = true;
    numbers.panels.emplace_back().arrays.push_back({"", std::move(values)});
    charts.push_back(std::make_shared<const ChartNumbers>(std::move(numbers)));
  }
  return charts;
}

}  // namespace sextant::pictures

namespace sextant {

std::string_view name_of(ChartNumbers::Kind kind) noexcept {
  return enum_name(kind, {"matrices", "lines", "points", "dots"});
}

std::string_view name_of(ColorMap map) noexcept {
  return enum_name(map, {"viridis", "diverging", "sequential"});
}

}  // namespace sextant
