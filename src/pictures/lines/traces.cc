// Data inside a panel.
#include "pictures/lines/traces.h"

#include <cmath>
#include <string>
#include <utility>

#include "pictures/text.h"

namespace sextant::pictures {
namespace {

constexpr double kLineWidth = 1.6;
constexpr double kDenseWidth = 1.1;  // of lines that zigzag within a few pixels

struct TracePoint {
  double x, y;
};

std::string dash_attribute(std::size_t index) {
  std::string text = "stroke-linejoin=\"round\"";
  if (const auto dash = series_dash(index); !dash.empty()) {
    text += " stroke-dasharray=\"" + std::string(dash) + "\"";
  }
  return text;
}

// Returns the first, lowest, highest and last point of each run of points within one half pixel, in
// their order.
std::vector<TracePoint> thin(const std::vector<TracePoint>& points) {
  std::vector<TracePoint> kept;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin + 1, low = begin, high = begin;
    const double column = std::floor(points[begin].x * 2);
    while (end < points.size() && std::floor(points[end].x * 2) == column) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
      ++end;
    }
    std::size_t last = points.size();
    for (const std::size_t i : {begin, std::min(low, high), std::max(low, high), end - 1}) {
      if (i != last) kept.push_back(points[i]);
      last = i;
    }
    begin = end;
  }
  return kept;
}

double distance_to(const TracePoint& from, const TracePoint& to, const TracePoint& p) {
  const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  if (length == 0) return std::hypot(p.x - from.x, p.y - from.y);
  return std::abs(dx * (p.y - from.y) - dy * (p.x - from.x)) / length;
}

// Marks the points that a line of straight pieces within `tolerance` pixels of all others needs
// (Douglas and Peucker 1973), between two that are kept.
void mark_needed(const std::vector<TracePoint>& points, double tolerance,
                 std::vector<bool>& needed) {
  std::vector<std::pair<std::size_t, std::size_t>> open = {{0, points.size() - 1}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    std::size_t farthest = begin;
    double most = tolerance;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const double away = distance_to(points[begin], points[end], points[i]);
      if (away <= most) continue;
      most = away;
      farthest = i;
    }
    if (farthest == begin) continue;
    needed[farthest] = true;
    open.push_back({begin, farthest});
    open.push_back({farthest, end});
  }
}

std::vector<TracePoint> simplified(const std::vector<TracePoint>& points, double tolerance) {
  if (points.size() < 3) return points;
  std::vector<bool> needed(points.size(), false);
  needed.front() = needed.back() = true;
  mark_needed(points, tolerance, needed);
  std::vector<TracePoint> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (needed[i]) kept.push_back(points[i]);
  }
  return kept;
}

// A disc with a number, or a small dot without one.
void draw_disc(Drawing& drawing, double x, double y, std::size_t index, bool numbered,
               std::string_view tooltip) {
  if (!numbered) {
    drawing.circle(x, y, 2.4, series_color(0), tooltip);
    return;
  }
  drawing.circle(x, y, kDisc + 0.8, "#fff");
  drawing.circle(x, y, kDisc, series_color(0), tooltip);
  const std::string digits = std::to_string(index);
  // Three digits or more have to be set smaller to stay on the disc.
  const double size = std::min(kSmallestText, 2 * kDisc * 0.96 / text_width(digits, 1, true));
  drawing.text(x, y, digits,
               {.size = size, .anchor = Anchor::middle, .color = "#fff", .bold = true});
}

bool is_finite(const Series& series, std::size_t i) {
  return std::isfinite(series.x[i]) && std::isfinite(series.y[i]);
}

}  // namespace

namespace {

// The line's path, at most `tolerance` pixels off; empty where there is no number.
std::string path_of(const Panel& panel, const Series& series, double tolerance) {
  std::string d;
  std::vector<TracePoint> run;
  const auto flush = [&] {
    if (run.size() == 1) {  // a line of no length still shows its round ends
      d += "M" + number(run[0].x) + " " + number(run[0].y) + "h0";
    } else {
      bool first = true;
      for (const TracePoint& point : tolerance > 0 ? simplified(thin(run), tolerance) : thin(run)) {
        d += first ? "M" : "L";
        d += number(point.x) + " " + number(point.y);
        first = false;
      }
    }
    run.clear();
  };
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (is_finite(series, i)) {
      run.push_back({panel.across(series.x[i]), panel.down(series.y[i])});
    } else {
      flush();
    }
  }
  flush();
  return d;
}

}  // namespace

void draw_trace(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index,
                double tolerance) {
  const std::string d = path_of(panel, series, tolerance);
  if (d.empty()) return;
  const bool dense = static_cast<double>(series.x.size()) > panel.width / 1.5;
  drawing.path(d, series_color(index), dense ? kDenseWidth : kLineWidth,
               dash_attribute(index) + " stroke-linecap=\"round\"");
}

void draw_traces_behind(Drawing& drawing, const Panel& panel, const std::vector<Series>& all) {
  constexpr double kTolerance = 1;
  std::string d;
  for (const Series& series : all) d += path_of(panel, series, kTolerance);
  if (!d.empty()) drawing.path(d, kAxis, 1, "stroke-opacity=\"0.8\"");
}

void draw_trace_sample(Drawing& drawing, double x, double y, std::size_t index) {
  drawing.path("M" + number(x - 8) + " " + number(y) + "h16", series_color(index), 2,
               dash_attribute(index));
}

void draw_points(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index) {
  const std::size_t count = series.x.size();
  const double spacing = panel.width / static_cast<double>(std::max<std::size_t>(1, count));
  const double radius = std::clamp(spacing * 0.9, 1.3, 3.2);
  drawing.open("fill=\"" + std::string(series_color(index)) + "\" fill-opacity=\"0.85\"");
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_finite(series, i)) continue;
    drawing.raw("<circle cx=\"" + number(panel.across(series.x[i])) + "\" cy=\"" +
                number(panel.down(series.y[i])) + "\" r=\"" + number(radius) + "\"/>");
  }
  drawing.close();
}

void draw_numbered_points(Drawing& drawing, const Panel& panel, const Series& series,
                          const std::vector<std::string>& labels) {
  if (labels.empty()) return;
  const double apart = (panel.across(series.x.back()) - panel.across(series.x.front())) /
                       static_cast<double>(series.x.size() - 1);
  const double every = apart > 0 ? std::max(1.0, std::ceil(2 * kDisc / apart)) : 1;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (!is_finite(series, k)) continue;
    draw_disc(drawing, panel.across(series.x[k]), panel.down(series.y[k]), k,
              std::fmod(static_cast<double>(k), every) == 0,
              std::to_string(k) + " " + token_label(labels[k]) + ": " + number(series.y[k]));
  }
}

double draw_number_legend(Drawing& drawing, const std::vector<std::string>& labels, double left,
                          double top, double width) {
  std::vector<std::string> names;
  for (const std::string& label : labels) names.push_back(token_label(label));
  return draw_legend(drawing, names, left, top, width, [&](double x, double y, std::size_t k) {
    draw_disc(drawing, x, y, k, true, "");
  });
}

}  // namespace sextant::pictures
