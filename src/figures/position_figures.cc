// The figures of a table of positions.
#include "sextant/figures/position_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/threads/interruption.h"
#include "figures/curves.h"
#include "sextant/core/error.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/lessons/similarity.h"

namespace sextant::figures {
namespace {

// A matrix of all pairs: 128 MiB.
constexpr std::int64_t kMaxPairs = 4096;

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
std::vector<std::string> column_titles(const PositionTable& source,
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

// Adjacent columns of sines and cosines, as in the layout half_split.
std::vector<ColumnGroup> halves_of(const PositionTable& source) {
  std::vector<ColumnGroup> groups;
  if (!source.options || source.options->layout == SinusoidalLayout::interleaved) return groups;
  for (std::int64_t column = 0; column < source.values.size(1); ++column) {
    const auto [pair, cosine] = sinusoidal_column(*source.options, column);
    if (pair < 0) continue;  // a column of zeros
    const std::string name = cosine ? "cosines" : "sines";
    if (groups.empty() || groups.back().name != name) groups.push_back({name, column, 0});
    ++groups.back().count;
  }
  return groups;
}

// A panel per row of `lines`.
LinePanels panels_of(const Tensor<double>& lines, const std::vector<std::string>& titles) {
  LinePanels chart;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const double* row = &lines(i, 0);
    chart.panels.push_back({titles[i], {counted("", {row, row + lines.size(1)})}});
  }
  chart.whole_x = true;
  return chart;
}

std::string sizes(const Tensor<double>& table) {
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
  if (table.size(0) < 1 || table.size(0) > kMaxPairs) {
    throw Error("figure.length", "must be 1 .. " + std::to_string(kMaxPairs) +
                                     " positions to compare all pairs, got " +
                                     std::to_string(table.size(0)));
  }
}

}  // namespace

PlotSizes plot_sizes(std::string_view kind) {
  if (kind == "sinusoids" || kind == "rows") return {.width = 100};
  if (kind == "offset_matrix") return {.width = 32};
  if (kind == "difference") return {.width = 64};
  return {};
}

PositionTable position_table(const Sinusoidal& options) {
  return {.values = sinusoidal<double>(options), .options = options, .first = options.first};
}

PositionTable position_table(const NamedScheme& scheme, std::int64_t length, std::int64_t width,
                             std::int64_t first) {
  if (scheme.scheme == "sinusoidal") {
    Sinusoidal options = sinusoidal_from(scheme.parameters);
    options.length = length;
    options.width = width;
    options.first = first;
    return position_table(options);
  }
  if (scheme.descriptor().kind != SchemeKind::added) {
    throw Error("figure.scheme", "must be one that adds a table to embeddings, got '" +
                                     scheme.scheme + "', which has no rows to compare");
  }
  const std::vector<std::int64_t> positions = positions_of(scheme, length, first);
  SchemeRequest request = scheme.request(positions);
  request.width = width;
  return {.values = *AppliedPositions<double>(scheme.descriptor().make(request)).added,
          .name = scheme.title(),
          .first = first};
}

Series column_curve(const PositionTable& source, std::int64_t column, std::int64_t samples) {
  constexpr double kFarthest = 4294967296.0;  // beyond it a float64 angle is rough
  check_indices({column}, source.values.size(1), "figure.column");
  if (samples < 1) {
    throw Error("figure.samples", "must be at least 1, got " + std::to_string(samples));
  }
  const std::int64_t steps = source.values.size(0) - 1;
  const auto first = static_cast<double>(source.first);
  if (!source.options || std::abs(first) + static_cast<double>(steps) > kFarthest) return {};
  const auto [pair, cosine] = sinusoidal_column(*source.options, column);
  if (pair < 0) return {};
  const double frequency = sinusoidal_frequencies(*source.options, cosine)(pair);
  Series curve;
  for (std::int64_t i = 0; i <= steps * samples; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(samples);
    const double angle = (first + at) * frequency;
    curve.x.push_back(at);
    curve.y.push_back(source.options->scale * (cosine ? std::cos(angle) : std::sin(angle)));
  }
  return curve;
}

Figure plot_sinusoids(const PositionTable& source, const std::vector<std::int64_t>& columns,
                      const std::vector<std::string>& words, std::optional<double> max_width) {
  check_indices(columns, source.values.view().size(1), "figure.columns");
  if (static_cast<std::int64_t>(words.size()) > source.values.size(0)) {
    throw Error("figure.words", "must be at most one per position (" +
                                    std::to_string(source.values.size(0)) + "), got " +
                                    std::to_string(words.size()));
  }
  const std::vector<std::string> titles = column_titles(source, columns);
  Figure plot{{}, chosen(source.values.view(), 1, columns), {}, {}};
  LinePanels chart = panels_of(plot.values, titles);
  chart.title = "Columns of " + source.name + ", " + sizes(source.values);
  chart.x_label = "Index (k)";
  chart.point_labels = words;
  chart.panel_width = 300;
  chart.panel_height = 170;
  chart.max_width = max_width.value_or(chart.max_width);
  // About one in a CSS pixel; a panel grows for words.
  constexpr double kMostSamples = 8;
  const double apart = chart.panel_width / static_cast<double>(source.values.size(0));
  const auto samples =
      static_cast<std::int64_t>(words.empty() ? std::min(apart, kMostSamples) : kMostSamples);
  if (samples > 1) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      chart.panels[i].curve = column_curve(source, columns[i], samples);
    }
  }
  plot.picture = draw(chart);
  plot.labels.title = "Columns of " + source.name;
  plot.labels.row_name = "Column";
  plot.labels.column_name = "Position";
  plot.labels.row_label = [titles](std::int64_t row) {
    return titles[static_cast<std::size_t>(row)];
  };
  return plot;
}

Figure plot_rows(const PositionTable& source, const std::vector<std::int64_t>& rows,
                 std::optional<double> max_width) {
  check_indices(rows, source.values.view().size(0), "figure.rows");
  const auto position = [rows, first = source.first](std::int64_t row) {
    return std::to_string(first + rows[static_cast<std::size_t>(row)]);
  };
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    titles.push_back("Position " + position(static_cast<std::int64_t>(i)));
  }
  Figure plot{{}, chosen(source.values.view(), 0, rows), {}, {}};
  LinePanels chart = panels_of(plot.values, titles);
  chart.x_label = "Dimension";
  chart.points = true;
  chart.panel_width = 310;
  chart.panel_height = 210;
  chart.max_width = max_width.value_or(chart.max_width);
  chart.title = "Rows of " + source.name + ", " + sizes(source.values);
  plot.picture = draw(chart);
  plot.labels.title = "Rows of " + source.name;
  plot.labels.row_label = position;
  return plot;
}

Figure plot_heatmap(const PositionTable& source, std::optional<double> max_width) {
  Figure plot{{}, source.values.clone(), {}, {}};
  plot.labels.title = capital(source.name) + ", " + sizes(source.values);
  plot.labels.first_row = source.first;
  plot.labels.column_groups = halves_of(source);
  plot.picture = table_map(source.values.view(), plot.labels, {}, max_width);
  return plot;
}

Figure plot_offset_matrix(const Sinusoidal& options, std::int64_t offset,
                          std::optional<double> max_width) {
  if (options.width > kMaxPairs) {
    throw Error("figure.width", "must be at most " + std::to_string(kMaxPairs) +
                                    " for a matrix, got " + std::to_string(options.width));
  }
  Figure plot{{}, offset_matrix(options, offset), {}, {}};
  const std::string by = std::to_string(offset);
  plot.labels.title = "PE(p + " + by + ") = M PE(p) for every position p: M of width " +
                      std::to_string(options.width);
  plot.labels.row_name = "Dimension of PE(p + " + by + ")";
  plot.labels.column_name = "Dimension of PE(p)";
  plot.labels.low = -1;
  plot.labels.high = 1;
  plot.picture = table_map(std::as_const(plot.values).view(), plot.labels, {}, max_width);
  return plot;
}

Figure plot_similarity(const PositionTable& source, std::optional<double> max_width) {
  check_pairs(source.values.view());
  Figure plot{{}, cosine_similarities(source.values.view()), {}, {}};
  plot.labels.title = "Cosine similarity of " + source.name + ", width " +
                      std::to_string(source.values.view().size(1));
  plot.labels.column_name = "Position";
  plot.labels.color_name = "Cosine similarity";
  plot.labels.map = ColorMap::viridis;
  plot.labels.first_row = source.first;
  TableLabels drawn = plot.labels;
  drawn.first_column = source.first;
  plot.picture = table_map(std::as_const(plot.values).view(), drawn, {}, max_width);
  return plot;
}

std::vector<double> similarity_by_distance(View<const double> table, Measure measure) {
  check_pairs(table);
  const std::int64_t length = table.size(0);
  const Tensor<double> cosines =
      measure == Measure::cosine ? cosine_similarities(table) : Tensor<double>();
  const auto similarity = [&](std::int64_t a, std::int64_t b) {
    if (measure == Measure::cosine) return cosines(a, b);
    double sum = 0;
    for (std::int64_t i = 0; i < table.size(1); ++i) sum += table(a, i) * table(b, i);
    return sum;
  };
  std::vector<double> means;
  for (std::int64_t distance = 0; distance < length; ++distance) {
    double sum = 0;
    for (std::int64_t row = 0; row + distance < length; ++row) {
      check_interruption();
      sum += similarity(row, row + distance);
    }
    means.push_back(sum / static_cast<double>(length - distance));
  }
  return means;
}

Figure plot_distance(const PositionTable& source, Measure measure,
                     std::optional<double> max_width) {
  check_pairs(source.values.view());
  const std::int64_t length = source.values.view().size(0);
  if (length < 2) throw Error("figure.length", "must be at least 2 to have a distance, got 1");
  const std::string name = measure == Measure::cosine ? "cosine similarity" : "dot product";
  const Series curve = counted(name, similarity_by_distance(source.values.view(), measure));
  Figure plot = curve_figure({curve});
  plot.labels.title = "Similarity of " + source.name + " by distance";
  LinePanels chart{
      .title = plot.labels.title + ", width " + std::to_string(source.values.view().size(1)),
      .x_label = "Distance in positions",
      .y_label = "Mean " + name + " of all pairs",
      .panels = {{"", {curve}}}};
  chart.max_width = max_width.value_or(chart.max_width);
  plot.picture = draw(chart);
  return plot;
}

}  // namespace sextant::figures
