// Bands as areas, and as bars where there is no room for an area.
#include "pictures/lines/bands.h"

#include <cmath>
#include <string>
#include <vector>

namespace sextant::pictures {
namespace {

constexpr double kOpacity = 0.2;  // several may overlap
constexpr double kEdgeWidth = 0.8, kCap = 4;

struct Slice {
  double x, low, high;  // pixels
};

std::string at(double x, double y) { return number(x) + " " + number(y); }

void draw_bar(Drawing& drawing, const Slice& slice, std::string_view color) {
  const auto cap = [&](double y) { return "M" + at(slice.x - kCap, y) + "h" + number(2 * kCap); };
  drawing.path(
      cap(slice.high) + "M" + at(slice.x, slice.high) + "V" + number(slice.low) + cap(slice.low),
      color, 2 * kEdgeWidth);
}

void draw_area(Drawing& drawing, const std::vector<Slice>& run, std::string_view color) {
  std::string above, below;
  for (const Slice& slice : run) {
    above += (above.empty() ? "M" : "L") + at(slice.x, slice.high);
  }
  std::string around = above;
  for (auto slice = run.rbegin(); slice != run.rend(); ++slice) {
    below += (below.empty() ? "M" : "L") + at(slice->x, slice->low);
    around += "L" + at(slice->x, slice->low);
  }
  drawing.area(around + "Z", color, kOpacity);
  drawing.path(above + below, color, kEdgeWidth, "stroke-opacity=\"0.5\"");
}

}  // namespace

void draw_band(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index) {
  std::vector<Slice> run;
  const auto flush = [&] {
    if (run.size() == 1) draw_bar(drawing, run[0], series_color(index));
    if (run.size() > 1) draw_area(drawing, run, series_color(index));
    run.clear();
  };
  for (std::size_t i = 0; i < series.low.size(); ++i) {
    if (std::isfinite(series.x[i]) && std::isfinite(series.low[i]) &&
        std::isfinite(series.high[i])) {
      run.push_back(
          {panel.across(series.x[i]), panel.down(series.low[i]), panel.down(series.high[i])});
    } else {
      flush();
    }
  }
  flush();
}

void draw_band_sample(Drawing& drawing, double x, double y) {
  drawing.area("M" + at(x - 8, y - 5) + "h16v10h-16Z", kAxis, 2 * kOpacity);
  drawing.path("M" + at(x - 8, y) + "h16", kMuted, 2);
}

}  // namespace sextant::pictures
