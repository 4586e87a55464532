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
    if (series.x.size() != series.y.size()) {
      throw Error("line_chart.series",
                  "must have one y per x, got " + std::to_string(series.x.size()) + " x and " +
                      std::to_string(series.y.size()) + " y in '" + series.name + "'");
    }
  }
}

}  // namespace

Picture draw(const LineChart& chart) {
  check(chart);
  Bounds x, y;
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
      x.add(series.x[i]);
      y.add(series.y[i]);
    }
  }
  if (x.empty()) throw Error("line_chart.series", "must have at least one finite point");

  Drawing drawing;
  Panel panel{.width = kWidth, .height = kHeight};
  panel.x = range_of(x.low, x.high, chart.points ? 0.02 : 0);
  panel.y = range_of(y.low, y.high, 0.05);
  const Ticks y_ticks = fitting_ticks(panel.y.low, panel.y.high, panel.height, true);
  const Ticks x_ticks = fitting_ticks(panel.x.low, panel.x.high, panel.width, false);
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
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (chart.points) {
      draw_points(drawing, panel, series.x, series.y, i);
    } else {
      draw_trace(drawing, panel, series.x, series.y, i);
    }
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
