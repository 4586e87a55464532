// The offset matrix at work on one position.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sextant/core/numbers.h"
#include "sextant/figures/position_figures.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

enum Row { kBefore, kMoved, kAfter, kDifference };

}  // namespace

Figure plot_offset_at_work(const Sinusoidal& options, std::int64_t offset,
                           std::optional<double> max_width) {
  Figure plot = plot_offset_matrix(options, offset);
  const Tensor<double> matrix = std::move(plot.values);
  Sinusoidal one = options;
  one.length = 1;
  const Tensor<double> before = sinusoidal<double>(one);
  one.first += offset;
  const Tensor<double> after = sinusoidal<double>(one);
  plot.values = Tensor<double>({4, options.width});
  double largest = 0;
  for (std::int64_t row = 0; row < options.width; ++row) {
    double moved = 0;
    for (std::int64_t i = 0; i < options.width; ++i) moved += matrix(row, i) * before(0, i);
    plot.values(kBefore, row) = before(0, row);
    plot.values(kMoved, row) = moved;
    plot.values(kAfter, row) = after(0, row);
    plot.values(kDifference, row) = moved - after(0, row);
    largest = std::max(largest, std::abs(moved - after(0, row)));
  }
  const std::string p = std::to_string(options.first), q = std::to_string(one.first);
  HeatmapPanels chart;
  chart.values = plot.values.view();
  chart.title = "M PE(" + p + ") and PE(" + q + ") differ by at most " +
                (largest == 0 ? "0" : significant(largest, 2));
  chart.x_label = "Dimension";
  chart.row_labels = {"PE(" + p + ")", "M PE(" + p + ")", "PE(" + q + ")", "difference"};
  chart.map = ColorMap::diverging;
  chart.low = -1;
  chart.high = 1;
  chart.max_width = max_width.value_or(chart.max_width);
  plot.picture = draw(chart);
  plot.labels.title = chart.title;
  plot.labels.row_name = "Vector";
  plot.labels.column_name = chart.x_label;
  plot.labels.row_label = [names = chart.row_labels](std::int64_t row) {
    return names[static_cast<std::size_t>(row)];
  };
  return plot;
}

}  // namespace sextant::figures
