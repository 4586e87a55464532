// What panels of lines must be.
#include "pictures/lines/line_panels_check.h"

#include <cmath>
#include <string>
#include <vector>

#include "pictures/layout.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

constexpr double kNarrowestPanel = 50;

void check_series(const LinePanels& chart, const Series& series) {
  const auto positive = [](const std::vector<double>& values, const char* name) {
    for (const double value : values) {
      if (std::isfinite(value) && value <= 0) {
        throw Error(name, "must be positive on a logarithmic axis, got " + shortest(value));
      }
    }
  };
  if (chart.log_x) positive(series.x, "line_panels.x");
  if (chart.log_y) {
    positive(series.y, "line_panels.y");
    positive(series.low, "line_panels.low");
    positive(series.high, "line_panels.high");
  }
  if (series.x.size() != series.y.size()) {
    throw Error("line_panels.series",
                "must have one y per x, got " + std::to_string(series.x.size()) + " x and " +
                    std::to_string(series.y.size()) + " y in '" + series.name + "'");
  }
  for (const std::vector<double>& ends : {series.low, series.high}) {
    if (ends.size() == series.low.size() && (ends.empty() || ends.size() == series.x.size())) {
      continue;
    }
    throw Error("line_panels.low",
                "and high must be one per x or none, got " + std::to_string(series.low.size()) +
                    " and " + std::to_string(series.high.size()) + " in '" + series.name + "'");
  }
}

}  // namespace

void check(const LinePanels& chart) {
  if (chart.panels.empty()) throw Error("line_panels.panels", "must not be empty");
  for (const double side : {chart.panel_width, chart.panel_height}) {
    if (side >= kNarrowestPanel && side <= kWidestPanel) continue;
    throw Error("line_panels.panel_width",
                "and panel_height must be 50 .. 2400 pixels, got " + shortest(side));
  }
  check_max_width("line_panels", chart.max_width);
  const std::size_t count = chart.panels[0].series.size(), labels = chart.point_labels.size();
  for (const LinePanel& panel : chart.panels) {
    if (panel.series.empty() || panel.series.size() != count) {
      throw Error("line_panels.series",
                  "must be equally many in all panels and at least one, got " +
                      std::to_string(count) + " and " + std::to_string(panel.series.size()));
    }
    for (const Series& series : panel.series) check_series(chart, series);
    check_series(chart, panel.curve);
    for (const Series& series : panel.behind) check_series(chart, series);
    if (labels > panel.series[0].x.size()) {
      throw Error("line_panels.point_labels", "must be at most as many as there are points (" +
                                                  std::to_string(panel.series[0].x.size()) +
                                                  "), got " + std::to_string(labels));
    }
  }
}

}  // namespace sextant::pictures
