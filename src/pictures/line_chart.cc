// Lines or points over shared axes.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "pictures/traces.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr double kWidth = 640;  // of the panel
constexpr double kHeight = 300;

void check(const LineChart& chart) {
  if (chart.series.empty()) throw Error("line_chart.series", "must not be empty");
  for (const Series& series : chart.series) {
    const auto positive = [](const std::vector<double>& values, const char* name) {
      for (const double value : values) {
        if (std::isfinite(value) && value <= 0) {
          throw Error(name, "must be positive on a logarithmic axis, got " + shortest(value));
        }
      }
    };
    if (chart.log_x) positive(series.x, "line_chart.x");
    if (chart.log_y) positive(series.y, "line_chart.y");
    if (series.x.size() != series.y.size()) {
      throw Error("line_chart.series",
                  "must have one y per x, got " + std::to_string(series.x.size()) + " x and " +
                      std::to_string(series.y.size()) + " y in '" + series.name + "'");
    }
  }
}

// What is drawn: logarithms where an axis has them.
std::vector<Series> scaled(const LineChart& chart) {
  std::vector<Series> all = chart.series;
  const auto scale = [](std::vector<double>& values) {
    for (double& value : values) value = std::log10(value);
  };
  for (Series& series : all) {
    if (chart.log_x) scale(series.x);
    if (chart.log_y) scale(series.y);
  }
  return all;
}

Ticks ticks_of(const Range& range, bool logarithmic, double pixels, bool vertical) {
  return logarithmic ? fitting_log_ticks(range.low, range.high, pixels, vertical)
                     : fitting_ticks(range.low, range.high, pixels, vertical);
}

// At the numbers that the chart names, those outside left out.
Ticks named_ticks(const LineChart& chart, const Range& range) {
  Ticks ticks;
  for (const double value : chart.x_ticks) {
    const double at = chart.log_x ? std::log10(value) : value;
    if (!(at >= range.low && at <= range.high)) continue;
    ticks.at.push_back(at);
    ticks.labels.push_back(significant(value, 7));
  }
  return ticks;
}

}  // namespace

Picture draw(const LineChart& chart) {
  check(chart);
  const std::vector<Series> drawn = scaled(chart);
  Bounds x, y;
  for (const Series& series : drawn) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
      x.add(series.x[i]);
      y.add(series.y[i]);
    }
  }
  if (x.empty()) throw Error("line_chart.series", "must have at least one finite point");

  Drawing drawing;
  Panel panel{.width = kWidth, .height = kHeight};
  panel.x = range_of(x.low, x.high, chart.points || chart.markers ? 0.02 : 0);
  panel.y = range_of(y.low, y.high, 0.05);
  const Ticks y_ticks = ticks_of(panel.y, chart.log_y, panel.height, true);
  const Ticks x_ticks = chart.x_ticks.empty() ? ticks_of(panel.x, chart.log_x, panel.width, false)
                                              : named_ticks(chart, panel.x);
  panel.left = kMargin + (chart.y_label.empty() ? 0 : kAxisRoom) +
               widest(y_ticks.labels, kTickSize) + kTickGap;
  // The last number of the x axis may be centred on the very corner.
  const double right = std::max(kMargin, widest(x_ticks.labels, kTickSize) / 2 + 4);

  double top = draw_title(drawing, chart.title, panel.left, kMargin, panel.width);
  std::vector<std::string> names;
  if (chart.series.size() > 1) {
    for (const Series& series : chart.series) names.push_back(series.name);
    top += draw_legend(drawing, names, panel.left, top, panel.width,
                       [&](double cx, double cy, std::size_t i) {
                         if (chart.points) {
                           drawing.circle(cx, cy, 3.5, series_color(i));
                         } else {
                           draw_trace_sample(drawing, cx, cy, i);
                         }
                       });
    top += 4;
  }
  panel.top = top + 4;
  draw_axes(drawing, panel, x_ticks, y_ticks, true);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Series& series = drawn[i];
    if (!chart.points) draw_trace(drawing, panel, series.x, series.y, i);
    if (chart.points || chart.markers) draw_points(drawing, panel, series.x, series.y, i);
  }
  double bottom = panel.bottom() + kTickRoom;
  if (!chart.x_label.empty()) {
    draw_x_label(drawing, panel, chart.x_label, bottom + kAxisRoom / 2);
    bottom += kAxisRoom;
  }
  draw_y_label(drawing, chart.y_label, kMargin + kLabelSize / 2, panel.top, panel.height);
  return drawing.finish(panel.right() + right, bottom + kMargin - 6, chart.title);
}

}  // namespace sextant
