// Dots on one logarithmic axis.
#include "sextant/pictures/dot_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pictures/chart_numbers.h"
#include "pictures/layout.h"
#include "pictures/text.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

using namespace pictures;

constexpr double kRow = 20;
constexpr double kGroupGap = 14;
constexpr double kAcross = 420, kLeastAcross = 200;  // CSS pixels
constexpr double kNameAbove = 14;
constexpr double kNothing = 60;  // left of it, for numbers that are nothing

void check(const DotPlot& plot) {
  check_max_width("dot_plot", plot.max_width);
  if (!(plot.least > 0) || !std::isfinite(plot.least)) {
    throw Error("dot_plot.least", "must be positive and finite, got " + shortest(plot.least));
  }
  bool any = false;
  for (const auto& group : plot.groups) {
    for (const auto& dot : group.dots) {
      any = true;
      if (dot.value >= 0 && std::isfinite(dot.value)) continue;
      throw Error("dot_plot.groups", "must have finite numbers >= 0, got " + shortest(dot.value) +
                                         " for '" + dot.name + "'");
    }
  }
  if (!any) throw Error("dot_plot.groups", "must have at least one dot");
}

struct Axis {
  Panel panel;
  Ticks ticks;
  double place(double value) const { return panel.across(std::log10(value)); }
};

Axis axis_of(const DotPlot& plot, double left, double top, double width, double height) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto& group : plot.groups) {
    for (const auto& dot : group.dots) {
      if (dot.value < plot.least) continue;
      low = std::min(low, dot.value);
      high = std::max(high, dot.value);
    }
  }
  if (high == 0) low = high = plot.least;  // nothing but rounding
  Axis axis;
  axis.panel = {.left = left, .top = top, .width = width, .height = height};
  axis.panel.x = range_of(std::log10(std::min(low, high / 10)), std::log10(high), 0.05);
  axis.ticks = fitting_log_ticks(axis.panel.x.low, axis.panel.x.high, width, false);
  return axis;
}

// "Dot plot of 39 names in 6 groups: the largest is 0.31 of 'rotary'; 3 are the same."
std::string describe(const DotPlot& plot) {
  std::size_t names = 0, nothing = 0;
  const DotPlot::Dot* largest = nullptr;
  for (const auto& group : plot.groups) {
    for (const auto& dot : group.dots) {
      ++names;
      if (dot.value < plot.least) ++nothing;
      if (largest == nullptr || dot.value > largest->value) largest = &dot;
    }
  }
  std::string text = "Dot plot of " + std::to_string(names) + " names in " +
                     std::to_string(plot.groups.size()) + " groups";
  if (!plot.x_label.empty()) text += ", " + plot.x_label + " on a logarithmic axis";
  text += "; the largest is " + significant(largest->value, 2) + " of '" + largest->name + "'";
  if (nothing > 0)
    text +=
        "; " + std::to_string(nothing) + (nothing == 1 ? " is '" : " are '") + plot.nothing + "'";
  return text + ".";
}

}  // namespace

Picture draw(const DotPlot& plot) {
  check(plot);
  std::vector<std::string> names;
  for (const auto& group : plot.groups) {
    for (const auto& dot : group.dots) names.push_back(dot.name);
  }
  double named = widest(names, kTickSize);
  for (const auto& group : plot.groups) {
    named = std::max(named, text_width(group.title, kTickSize, true) - kNothing);
  }
  const double room = plot.max_width - 2 * kMargin - kNothing;
  const bool above = named + 12 + kLeastAcross > room;  // a name is above its dot
  const double left = kMargin + (above ? 0 : named + 12);
  const double width = std::min(kAcross, room + kMargin - left);
  const double right = left + kNothing + width + kMargin;
  const double pitch = kRow + (above ? kNameAbove : 0);
  double height = 0;
  for (const auto& group : plot.groups) {
    height += kRow + pitch * static_cast<double>(group.dots.size()) + kGroupGap;
  }
  Drawing drawing;
  const double top = draw_title(drawing, plot.title, kMargin, kMargin, right - 2 * kMargin);
  const Axis axis = axis_of(plot, left + kNothing, top, width, height);
  const double nothing = left + kNothing / 2;
  const double free = nothing + text_width(plot.nothing, kTickSize) / 2 + 4;  // beside its name
  for (std::size_t i = 0; i < axis.ticks.at.size(); ++i) {
    const double x = axis.panel.across(axis.ticks.at[i]);
    drawing.line(x, top, x, top + height, kGrid);
    if (x - text_width(axis.ticks.labels[i], kTickSize) / 2 < free) continue;
    drawing.text(x, top + height + kTickGap + kTickSize / 2, axis.ticks.labels[i],
                 {.anchor = Anchor::middle, .color = kMuted});
  }
  drawing.line(nothing, top, nothing, top + height, kGrid);
  drawing.text(nothing, top + height + kTickGap + kTickSize / 2, plot.nothing,
               {.anchor = Anchor::middle, .color = kMuted});
  double y = top;
  for (std::size_t g = 0; g < plot.groups.size(); ++g) {
    std::vector<DotPlot::Dot> dots = plot.groups[g].dots;
    std::ranges::stable_sort(dots, std::greater<>(), &DotPlot::Dot::value);
    drawing.text(kMargin, y + kRow / 2, plot.groups[g].title, {.bold = true});
    y += kRow;
    for (const auto& dot : dots) {
      const double middle = y + pitch - kRow / 2;
      if (above) {
        drawing.text(left, y + kNameAbove / 2 + 2,
                     shorten(dot.name, kTickSize, right - 2 * kMargin));
      } else {
        drawing.text(left - 8, middle, dot.name, {.anchor = Anchor::end});
      }
      const std::string says = dot.name + ": " + significant(dot.value, 3);
      if (dot.value < plot.least) {
        drawing.circle(nothing, middle, 4.5, series_color(g), says);
        drawing.circle(nothing, middle, 2.8, kPaper, says);
      } else {
        drawing.circle(axis.place(dot.value), middle, 4.5, series_color(g), says);
      }
      y += pitch;
    }
    y += kGroupGap;
  }
  draw_x_label(drawing, axis.panel, plot.x_label, top + height + kTickRoom + kAxisRoom / 2);
  Picture picture = drawing.finish(right, top + height + kTickRoom + kAxisRoom + kMargin,
                                   plot.title, describe(plot));
  picture.numbers = numbers_of(plot);
  return picture;
}

}  // namespace sextant
