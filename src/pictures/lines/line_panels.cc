// Panels of lines or points: the same axes, numbers at the outer sides only, one legend.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pictures/chart_numbers.h"
#include "pictures/describe.h"
#include "pictures/layout.h"
#include "pictures/lines/bands.h"
#include "pictures/lines/line_panels_check.h"
#include "pictures/lines/line_series.h"
#include "pictures/lines/point_words.h"
#include "pictures/lines/traces.h"
#include "pictures/text.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr double kTitleRoom = 22, kPanelsAcross = 26,
                 kDown = 14;            // above, next to and below a panel
constexpr double kGridWidth = 1140;     // where a grid's next row begins
constexpr double kPointMargin = 0.02;   // of the x axis, at both ends: markers are not cut
constexpr double kLineTolerance = 0.1;  // pixels
constexpr double kLeastOfPanel = 0.75;  // of panel_width, beside others
constexpr double kLeastNamed = 220;     // pixels of a panel with names at the ends of its lines
constexpr double kWordMargin = 0.04;    // the same for words

// Returns the drawn numbers: logarithms for logarithmic axes.
std::vector<LinePanel> scaled(const LinePanels& chart) {
  std::vector<LinePanel> panels = chart.panels;
  const auto scale = [](std::vector<double>& values) {
    for (double& value : values) value = std::log10(value);
  };
  for (LinePanel& panel : panels) {
    for (Series& series : panel.series) {
      if (chart.log_x) scale(series.x);
      if (!chart.log_y) continue;
      for (auto* values : {&series.y, &series.low, &series.high}) scale(*values);
    }
    if (chart.log_x) scale(panel.curve.x);
    if (chart.log_y) scale(panel.curve.y);
    for (Series& series : panel.behind) {
      if (chart.log_x) scale(series.x);
      if (chart.log_y) scale(series.y);
    }
  }
  return panels;
}

// A panel of the grid, its axes those of all numbers, with its place left open.
Panel common_panel(const LinePanels& chart, const std::vector<LinePanel>& panels) {
  Bounds x, y;
  std::size_t longest = 1;
  const auto add_line = [&](const Series& line) {
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!std::isfinite(line.x[i]) || !std::isfinite(line.y[i])) continue;
      x.add(line.x[i]);
      y.add(line.y[i]);
    }
  };
  for (const LinePanel& panel : panels) {
    for (const Series& series : panel.series) {
      longest = std::max(longest, series.x.size());
      add_line(series);
      for (std::size_t i = 0; i < series.low.size(); ++i) {
        for (const double end : {series.low[i], series.high[i]}) {
          if (std::isfinite(end)) y.add(end);
        }
      }
    }
  }
  if (x.empty()) throw Error("line_panels.series", "must have at least one finite point");
  for (const LinePanel& panel : panels) {
    add_line(panel.curve);
    for (const Series& line : panel.behind) add_line(line);
  }
  const bool labelled = !chart.point_labels.empty();
  const double height = chart.panel_height;
  Panel panel{.width = chart.panel_width, .height = height};
  if (labelled) {
    const double words = static_cast<double>(longest - 1) * kWordPitch * (1 + 2 * kWordMargin);
    panel.width = std::max(panel.width, std::min(std::ceil(words), kWidestPanel));
  }
  panel.x = range_of(x.low, x.high,
                     labelled                        ? kWordMargin
                     : chart.points || chart.markers ? kPointMargin
                                                     : 0);
  // Low panels need a larger share of their height for the same pixels.
  panel.y = range_of(y.low, y.high, height < 200 ? 0.08 : height < 300 ? 0.06 : 0.05);
  return panel;
}

// Returns ticks at the numbers that the chart names, without those outside.
Ticks named_ticks(const LinePanels& chart, const Range& range) {
  Ticks ticks;
  for (const double value : chart.x_ticks) {
    const double at = chart.log_x ? std::log10(value) : value;
    if (!(at >= range.low && at <= range.high)) continue;
    ticks.at.push_back(at);
    ticks.labels.push_back(significant(value, 7));
  }
  return ticks;
}

Ticks x_ticks_of(const LinePanels& chart, const Panel& panel) {
  const auto& [low, high] = panel.x;
  if (!chart.x_ticks.empty()) return named_ticks(chart, panel.x);
  return chart.log_x ? fitting_log_ticks(low, high, panel.width, false)
                     : fitting_ticks(low, high, panel.width, false, chart.whole_x);
}

// Draws the legend of several series without names elsewhere, and of bands.
double draw_series_legend(Drawing& drawing, const LinePanels& chart, const std::vector<Series>& all,
                          double left, double top, double width) {
  std::vector<std::string> names;
  for (const Series& series : all) names.push_back(series.name);
  if (names.size() < 2) names.clear();
  const std::size_t band = chart.band.empty() ? all.size() : names.size();
  if (!chart.band.empty()) names.push_back(chart.band);
  if (names.empty()) return 0;
  return 4 + draw_legend(drawing, names, left, top, width, [&](double x, double y, std::size_t i) {
           if (i == band) {
             draw_band_sample(drawing, x, y);
           } else if (chart.points) {
             drawing.circle(x, y, 3.5, series_color(i));
           } else {
             draw_trace_sample(drawing, x, y, i);
           }
         });
}

constexpr double kNameGap = 6, kNameLine = 12;  // between a line, its mark and its name

double names_width(const std::vector<EndName>& names, const std::vector<Series>& all) {
  std::vector<std::string> texts;
  for (const EndName& name : names) texts.push_back(all[name.series].name);
  return texts.empty() ? 0 : widest(texts, kTickSize) + 3 * kNameGap + kNameLine;
}

void draw_end_names(Drawing& drawing, const Panel& panel, const std::vector<EndName>& names,
                    const std::vector<Series>& all) {
  const double from = panel.right() + 2, to = from + kNameLine + kNameGap;
  for (const EndName& name : names) {
    drawing.path(
        "M" + number(from) + " " + number(name.line) + "L" + number(to) + " " + number(name.text),
        series_color(name.series), 1);
    drawing.circle(to, name.text, 3, series_color(name.series));
    drawing.text(to + kNameGap, name.text, all[name.series].name);
  }
}

// Returns whether the labels of points have room next to them.
bool has_words(const LinePanels& chart, const Panel& panel) {
  if (chart.point_labels.empty()) return false;
  const std::vector<double>& x = chart.panels[0].series[0].x;
  const double steps = static_cast<double>(std::max<std::size_t>(2, x.size()) - 1);
  return panel.width / (1 + 2 * kWordMargin) / steps >= kWordPitch - 1e-9;
}

void draw_data(Drawing& drawing, const LinePanels& chart, const Panel& panel,
               const LinePanel& data) {
  draw_traces_behind(drawing, panel, data.behind);
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    draw_band(drawing, panel, data.series[i], i);
  }
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const bool curved = i == 0 && !data.curve.x.empty();
    const Series& line = curved ? data.curve : data.series[i];
    if (!chart.points) draw_trace(drawing, panel, line, i, kLineTolerance);
    const bool single = data.series[i].x.size() == 1;  // no line, which would not be seen
    if (chart.points || chart.markers || single) draw_points(drawing, panel, data.series[i], i);
  }
  const Series& line = data.curve.x.empty() ? data.series[0] : data.curve;
  if (has_words(chart, panel)) {
    draw_point_words(drawing, panel, data.series[0], line, chart.point_labels);
  } else {
    draw_numbered_points(drawing, panel, data.series[0], chart.point_labels);
  }
}

// Makes the panel as wide as `room` allows and returns the number of panels side by side. Panels
// with labelled points keep their width.
std::size_t fit_columns(const LinePanels& chart, std::size_t panels, double room, Panel& panel) {
  const auto fit = static_cast<std::size_t>(kGridWidth / (panel.width + kPanelsAcross));
  const double least = panel.width * (chart.point_labels.empty() ? kLeastOfPanel : 1);
  std::size_t columns = std::clamp<std::size_t>(fit, 1, std::min<std::size_t>(3, panels));
  const auto width = [&] {
    return (room + kPanelsAcross) / static_cast<double>(columns) - kPanelsAcross;
  };
  while (columns > 1 && width() < least) --columns;
  panel.width = std::min(panel.width, std::floor(width()));
  return columns;
}

}  // namespace

Series counted(std::string name, std::vector<double> y, std::int64_t first) {
  Series series{std::move(name), std::vector<double>(y.size()), std::move(y)};
  std::iota(series.x.begin(), series.x.end(), static_cast<double>(first));
  return series;
}

Picture draw(const LinePanels& chart) {
  check(chart);
  std::vector<LinePanel> panels = scaled(chart);
  Panel panel = common_panel(chart, panels);
  const bool alone = panels.size() == 1 && !chart.points && chart.point_labels.empty();
  if (!chart.points) {
    const std::vector<DistinctSeries> distinct = distinct_series(panels, panel);
    if (alone && distinct.size() > kMostTogether) {
      LinePanels together = chart;
      keep(distinct, together.panels);
      Picture picture = draw(small_multiples(together));
      picture.numbers = numbers_of(chart);
      return picture;
    }
    keep(distinct, panels);
  }
  const Ticks y = chart.log_y ? fitting_log_ticks(panel.y.low, panel.y.high, panel.height, true)
                              : fitting_ticks(panel.y.low, panel.y.high, panel.height, true);
  const double left =
      kMargin + (chart.y_label.empty() ? 0 : kAxisRoom) + widest(y.labels, kTickSize) + kTickGap;
  const bool titled =
      std::ranges::any_of(panels, [](const auto& one) { return !one.title.empty(); });
  const double above = titled ? kTitleRoom : 4;
  const double below = kTickRoom + (chart.x_label.empty() ? 0 : kAxisRoom);

  std::vector<EndName> names;
  if (alone && panels[0].series.size() > 1) names = end_names(panel, panels[0].series);
  double beside = names_width(names, panels[0].series);
  if (chart.max_width - left - beside - kMargin < std::min(kLeastNamed, panel.width)) {
    names.clear();
    beside = 0;
  }
  // The last number of the x axis may be centred on the very corner.
  const double right = std::max(
      {kMargin, widest(x_ticks_of(chart, panel).labels, kTickSize) / 2 + 4, beside + kMargin / 2});
  const std::size_t columns =
      fit_columns(chart, panels.size(), chart.max_width - left - right, panel);
  const double width = static_cast<double>(columns) * (panel.width + kPanelsAcross) - kPanelsAcross;
  const Ticks x = x_ticks_of(chart, panel);

  Drawing drawing;
  double top = draw_title(drawing, chart.title, left, kMargin, width);
  top += draw_series_legend(
      drawing, chart, names.empty() ? panels[0].series : std::vector<Series>(), left, top, width);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double row = static_cast<double>(i / columns);
    panel.left = left + static_cast<double>(i % columns) * (panel.width + kPanelsAcross);
    panel.top = top + row * (above + panel.height + below + kDown) + above;
    const std::string& title = panels[i].title;
    const std::string shown = shorten(title, kPanelTitleSize, panel.width, true);
    drawing.text(panel.left, panel.top - 12, shown,
                 {.size = kPanelTitleSize, .bold = true, .tooltip = shown == title ? "" : title});
    draw_axes(drawing, panel, x, y, i % columns == 0);
    draw_data(drawing, chart, panel, panels[i]);
    if (!names.empty()) {
      draw_end_names(drawing, panel, end_names(panel, panels[0].series), panels[0].series);
    }
    draw_x_label(drawing, panel, chart.x_label, panel.bottom() + kTickRoom + kAxisRoom / 2);
    if (i % columns > 0) continue;
    draw_y_label(drawing, chart.y_label, kMargin + kLabelSize / 2, panel.top, panel.height);
  }
  double bottom = panel.bottom() + below;
  if (!chart.point_labels.empty() && !has_words(chart, panel)) {
    bottom += 14;
    bottom += draw_number_legend(drawing, chart.point_labels, left, bottom, width) + 6;
  }
  Picture picture =
      drawing.finish(left + width + right, bottom + kMargin - 6,
                     chart.title.empty() ? chart.description : chart.title, describe(chart));
  picture.numbers = numbers_of(chart);
  return picture;
}

}  // namespace sextant
