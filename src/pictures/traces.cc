// Data inside a panel.
#include "pictures/traces.h"

#include <cmath>
#include <string>

namespace sextant::pictures {
namespace {

constexpr double kLineWidth = 1.6;
constexpr double kDenseWidth = 1.1;  // of lines that zigzag within a few pixels

struct Point {
  double x, y;
};

std::string dash_attribute(std::size_t series) {
  std::string text = "stroke-linejoin=\"round\"";
  if (const auto dash = series_dash(series); !dash.empty()) {
    text += " stroke-dasharray=\"" + std::string(dash) + "\"";
  }
  return text;
}

// Of each run of points within one half pixel: first, lowest, highest, last, in their order.
std::vector<Point> thin(const std::vector<Point>& points) {
  std::vector<Point> kept;
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

}  // namespace

void draw_trace(Drawing& drawing, const Panel& panel, const std::vector<double>& x,
                const std::vector<double>& y, std::size_t series) {
  std::string d;
  std::vector<Point> run;
  const auto flush = [&] {
    if (run.size() == 1) {  // a line of no length still shows its round ends
      d += "M" + number(run[0].x) + " " + number(run[0].y) + "h0";
    } else {
      bool first = true;
      for (const Point& point : thin(run)) {
        d += first ? "M" : "L";
        d += number(point.x) + " " + number(point.y);
        first = false;
      }
    }
    run.clear();
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i]) && std::isfinite(y[i])) {
      run.push_back({panel.across(x[i]), panel.down(y[i])});
    } else {
      flush();
    }
  }
  flush();
  if (d.empty()) return;
  const bool dense = static_cast<double>(x.size()) > panel.width / 1.5;
  drawing.path(d, series_color(series), dense ? kDenseWidth : kLineWidth,
               dash_attribute(series) + " stroke-linecap=\"round\"");
}

void draw_trace_sample(Drawing& drawing, double x, double y, std::size_t series) {
  drawing.path("M" + number(x - 8) + " " + number(y) + "h16", series_color(series), 2,
               dash_attribute(series));
}

void draw_points(Drawing& drawing, const Panel& panel, const std::vector<double>& x,
                 const std::vector<double>& y, std::size_t series) {
  const double spacing = panel.width / static_cast<double>(std::max<std::size_t>(1, x.size()));
  const double radius = std::clamp(spacing * 0.9, 1.3, 3.2);
  drawing.open("fill-opacity=\"0.85\"");
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    drawing.circle(panel.across(x[i]), panel.down(y[i]), radius, series_color(series));
  }
  drawing.close();
}

}  // namespace sextant::pictures
