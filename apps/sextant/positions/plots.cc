// The pictures of a table of positions, each with the numbers it shows.
#include "positions/plots.h"

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/lessons/similarity.h"

namespace sextant::app {
namespace {

// A matrix of all pairs: 128 MiB.
constexpr std::int64_t kMostPairs = 4096;

void check_indices(const std::vector<std::int64_t>& indices, std::int64_t size, const char* where) {
  if (indices.empty()) throw Error(where, "must name at least one, got none");
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= size) {
      throw Error(where,
                  "must be 0 .. " + std::to_string(size - 1) + ", got " + std::to_string(index));
    }
  }
}

// "Sine 10" for column 20 of the paper's layout; other layouts keep their pairs' own names.
std::vector<std::string> column_titles(const PositionTableView& source,
                                       const std::vector<std::int64_t>& columns) {
  std::vector<std::string> titles;
  for (const std::int64_t column : columns) {
    std::string title = "Column " + std::to_string(column);
    if (source.options) {
      const auto [pair, cosine] = sinusoidal_column(*source.options, column);
      if (pair >= 0) title = (cosine ? "Cosine " : "Sine ") + std::to_string(pair);
    }
    titles.push_back(title);
  }
  return titles;
}

std::string sizes(const View<const double>& table) {
  return std::to_string(table.size(0)) + " x " + std::to_string(table.size(1));
}

// Rows at `indices` along `axis` of the table, as [indices, other axis].
Tensor<double> chosen(View<const double> table, int axis,
                      const std::vector<std::int64_t>& indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  Tensor<double> values({count, table.size(1 - axis)});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto line = table.select(axis, indices[static_cast<std::size_t>(i)]);
    for (std::int64_t j = 0; j < line.size(0); ++j) values(i, j) = line(j);
  }
  return values;
}

void check_pairs(View<const double> table) {
  if (table.size(0) < 1 || table.size(0) > kMostPairs) {
    throw Error("plot.length", "must be 1 .. " + std::to_string(kMostPairs) +
                                   " positions to compare all pairs, got " +
                                   std::to_string(table.size(0)));
  }
}

}  // namespace

Plot plot_sinusoids(const PositionTableView& source, const std::vector<std::int64_t>& columns,
                    const std::vector<std::string>& words) {
  check_indices(columns, source.table.size(1), "plot.columns");
  SinusoidPanels panels;
  panels.table = source.table;
  panels.columns = columns;
  panels.words = words;
  panels.titles = column_titles(source, columns);
  Plot plot{draw(panels), chosen(source.table, 1, columns), {}};
  plot.names.title = "Columns of " + source.name;
  plot.names.row_name = "Column";
  plot.names.column_name = "Position";
  plot.names.row_label = [titles = panels.titles](std::int64_t row) {
    return titles[static_cast<std::size_t>(row)];
  };
  plot.names.about["columns"] = columns;
  return plot;
}

Plot plot_rows(const PositionTableView& source, const std::vector<std::int64_t>& rows) {
  check_indices(rows, source.table.size(0), "plot.rows");
  RowPanels panels;
  panels.table = source.table;
  panels.rows = rows;
  panels.first = source.first;
  Plot plot{draw(panels), chosen(source.table, 0, rows), {}};
  plot.names.title = "Rows of " + source.name;
  plot.names.row_label = [rows, first = source.first](std::int64_t row) {
    return std::to_string(first + rows[static_cast<std::size_t>(row)]);
  };
  plot.names.about["rows"] = rows;
  return plot;
}

Plot plot_heatmap(const PositionTableView& source) {
  Plot plot{{}, copy_of(source.table), {}};
  plot.names.title = capital(source.name) + ", " + sizes(source.table);
  plot.names.first_row = source.first;
  plot.picture = picture_of(source.table, plot.names);
  return plot;
}

Plot plot_similarity(const PositionTableView& source) {
  check_pairs(source.table);
  Plot plot{{}, cosine_similarities(source.table), {}};
  plot.names.title =
      "Cosine similarity of " + source.name + ", width " + std::to_string(source.table.size(1));
  plot.names.column_name = "Position";
  plot.names.color_name = "Cosine similarity";
  plot.names.map = ColorMap::viridis;
  plot.names.first_row = source.first;
  Heatmap map;
  map.values = std::as_const(plot.values).view();
  map.title = plot.names.title;
  map.x_label = map.y_label = "Position";
  map.color_label = plot.names.color_name;
  map.first_row = map.first_column = static_cast<double>(source.first);
  plot.picture = draw(map);
  return plot;
}

std::vector<double> alike_by_distance(View<const double> table, Measure measure) {
  check_pairs(table);
  const std::int64_t length = table.size(0);
  const Tensor<double> cosines =
      measure == Measure::cosine ? cosine_similarities(table) : Tensor<double>();
  const auto alike = [&](std::int64_t a, std::int64_t b) {
    if (measure == Measure::cosine) return cosines(a, b);
    double sum = 0;
    for (std::int64_t i = 0; i < table.size(1); ++i) sum += table(a, i) * table(b, i);
    return sum;
  };
  std::vector<double> means;
  for (std::int64_t distance = 0; distance < length; ++distance) {
    double sum = 0;
    for (std::int64_t row = 0; row + distance < length; ++row) sum += alike(row, row + distance);
    means.push_back(sum / static_cast<double>(length - distance));
  }
  return means;
}

Plot plot_distance(const PositionTableView& source, Measure measure) {
  check_pairs(source.table);
  const std::int64_t length = source.table.size(0);
  if (length < 2) throw Error("plot.length", "must be at least 2 to have a distance, got 1");
  Series series;
  series.name = measure == Measure::cosine ? "cosine similarity" : "dot product";
  series.y = alike_by_distance(source.table, measure);
  Plot plot{{}, Tensor<double>({length, 2}), {}};
  for (std::int64_t distance = 0; distance < length; ++distance) {
    series.x.push_back(static_cast<double>(distance));
    plot.values(distance, 0) = static_cast<double>(distance);
    plot.values(distance, 1) = series.y[static_cast<std::size_t>(distance)];
  }
  plot.names.title = "How alike " + source.name + " are by their distance";
  plot.names.row_name = "Row";
  plot.names.column_name = "Distance, " + series.name;
  plot.names.about["columns"] = {"distance", series.name};
  LineChart chart;
  chart.title = plot.names.title + ", width " + std::to_string(source.table.size(1));
  chart.x_label = "Distance in positions";
  chart.y_label = "Mean " + series.name + " of all pairs";
  chart.series = {std::move(series)};
  plot.picture = draw(chart);
  return plot;
}

}  // namespace sextant::app
