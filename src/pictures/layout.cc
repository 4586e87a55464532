// Axes, legends and colour bars.
#include "pictures/layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "pictures/text.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

constexpr std::array<std::string_view, 16> kSeries = {
    "#0072b2", "#d55e00", "#009e73", "#b8579a", "#e69f00", "#56b4e9", "#4d4d4d", "#8c6d1f",
    "#003f66", "#8a2c00", "#6ccfb0", "#e8a6d2", "#7a5200", "#1d7fb8", "#9b9b9b", "#c7b06a"};
constexpr std::array<std::string_view, 4> kDashes = {"", "6 3", "2 3", "8 3 2 3"};

}  // namespace

std::string_view series_color(std::size_t index) { return kSeries[index % kSeries.size()]; }

std::string_view series_dash(std::size_t index) {
  return kDashes[index / kSeries.size() % kDashes.size()];
}

void check_ends(const std::string& where, const std::optional<double>& low,
                const std::optional<double>& high) {
  for (const auto& [name, end] : {std::pair(".low", low), std::pair(".high", high)}) {
    if (end && !(std::abs(*end) <= kLargest)) {
      throw Error(where + name, "must be within 1e300 of zero, got " + shortest(*end));
    }
  }
  if (low && high && !(*low < *high)) {
    throw Error(where + ".low",
                "must be below high, got " + shortest(*low) + " and " + shortest(*high));
  }
}

void check_max_width(const std::string& where, double max_width) {
  constexpr double kLeastWidth = 280;
  if (max_width >= kLeastWidth) return;
  throw Error(where + ".max_width",
              "must be at least " + number(kLeastWidth) + ", got " + shortest(max_width));
}

double widest(const std::vector<std::string>& labels, double size, bool bold) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, text_width(label, size, bold));
  return width;
}

void open_map(Drawing& drawing, const Panel& panel, std::int64_t rows, std::int64_t columns,
              std::int64_t index) {
  drawing.open("class=\"map\" data-rows=\"" + std::to_string(rows) + "\" data-columns=\"" +
               std::to_string(columns) + "\" data-x=\"" + number(panel.left) + "\" data-y=\"" +
               number(panel.top) + "\" data-width=\"" + number(panel.width) + "\" data-height=\"" +
               number(panel.height) + "\" data-panel=\"" + std::to_string(index) + "\"");
}

void draw_image(Drawing& drawing, const Panel& panel, View<const double> matrix,
                const Scale& scale) {
  const double wide = panel.width / static_cast<double>(matrix.size(1));
  const double high = panel.height / static_cast<double>(matrix.size(0));
  const bool crisp = std::min(wide, high) >= kCrisp;
  // A screen of twice as many pixels needs no smoothing either.
  const auto pixels = [&](double size) {
    const bool sharp = !crisp && size == std::round(size) && size <= 4;
    return sharp ? static_cast<int>(2 * size) : repeats(size);
  };
  drawing.image(panel.left, panel.top, panel.width, panel.height,
                matrix_png(matrix, scale, pixels(wide), pixels(high)), crisp);
}

namespace {

// The numbers alone.
void draw_labels(Drawing& drawing, const Ticks& ticks, Side side, double edge) {
  if (ticks.at.empty()) return;
  const Anchor beside = side == Side::left ? Anchor::end : Anchor::start;
  drawing.open_texts({.anchor = side == Side::below ? Anchor::middle : beside, .color = kMuted});
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    if (side == Side::below) {
      drawing.text(ticks.at[i], edge + 13, ticks.labels[i]);
    } else {
      drawing.text(edge + (side == Side::left ? -kTickGap : kTickGap), ticks.at[i],
                   ticks.labels[i]);
    }
  }
  drawing.close();
}

}  // namespace

void draw_ticks(Drawing& drawing, const Ticks& ticks, Side side, double edge) {
  constexpr double kLength = 4;
  std::vector<Segment> marks;
  for (double at : ticks.at) {
    if (side == Side::below) {
      marks.push_back({at, edge, at, edge + kLength});
    } else {
      marks.push_back({edge, at, edge + (side == Side::left ? -kLength : kLength), at});
    }
  }
  drawing.lines(marks, kAxis);
  draw_labels(drawing, ticks, side, edge);
}

void draw_axes(Drawing& drawing, const Panel& panel, Ticks x, Ticks y, bool labels_left) {
  for (double& at : x.at) at = panel.across(at);
  for (double& at : y.at) at = panel.down(at);
  std::vector<Segment> grid;
  for (double at : y.at) grid.push_back({panel.left, at, panel.right(), at});
  drawing.lines(grid, kGrid);
  if (labels_left) draw_labels(drawing, y, Side::left, panel.left);
  draw_ticks(drawing, x, Side::below, panel.bottom());
  drawing.line(panel.left, panel.bottom(), panel.right(), panel.bottom(), kAxis);
}

void draw_x_label(Drawing& drawing, const Panel& panel, std::string_view label, double y) {
  if (label.empty()) return;
  const std::string shown = shorten(label, kLabelSize, panel.width);
  drawing.text(panel.left + panel.width / 2, y, shown,
               {.size = kLabelSize,
                .anchor = Anchor::middle,
                .tooltip = shown == label ? std::string_view() : label});
}

void draw_y_label(Drawing& drawing, std::string_view label, double x, double top, double height) {
  if (label.empty()) return;
  const std::string shown = shorten(label, kLabelSize, height);
  drawing.text(x, top + height / 2, shown,
               {.size = kLabelSize,
                .anchor = Anchor::middle,
                .angle = -90,
                .tooltip = shown == label ? std::string_view() : label});
}

double draw_legend(Drawing& drawing, const std::vector<std::string>& names, double left, double top,
                   double width, const Mark& mark) {
  constexpr double kRow = 20, kSpace = 14, kLongest = 220;
  double x = left, y = top + kRow / 2;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string shown = shorten(names[i], kTickSize, std::min(kLongest, width - kMarkWidth));
    const double needed = kMarkWidth + text_width(shown, kTickSize);
    if (x > left && x + needed > left + width) {
      x = left;
      y += kRow;
    }
    mark(x + kMarkWidth / 2 - 2, y, i);
    drawing.text(x + kMarkWidth, y, shown, {.tooltip = shown == names[i] ? "" : names[i]});
    x += needed + kSpace;
  }
  return names.empty() ? 0 : y + kRow / 2 - top;
}

namespace {

constexpr double kBarWidth = 13;
constexpr std::string_view kHidden = "hidden";

Ticks color_ticks(const Scale& scale, double height) {
  return fitting_ticks(scale.low, scale.high, height, true);
}

}  // namespace

std::vector<std::string> gaps_of(const Extent& extent, const Scale& scale) {
  std::vector<std::string> names;
  if (scale.hides && extent.has_minus_infinity) names.emplace_back(kHidden);
  if (extent.has_other || (extent.has_minus_infinity && !scale.hides)) {
    names.emplace_back("not finite");
  }
  return names;
}

double color_bar_width(const Scale& scale, std::string_view label,
                       const std::vector<std::string>& gaps, double height) {
  double room = widest(color_ticks(scale, height).labels, kTickSize) + (label.empty() ? 0 : 20);
  room = std::max(room, widest(gaps, kNoteSize));
  return kBarWidth + kTickGap + room;
}

double draw_color_bar(Drawing& drawing, const Scale& scale, std::string_view label,
                      const std::vector<std::string>& gaps, double left, double top,
                      double height) {
  // One column of pixels, bright end up.
  constexpr std::int64_t kSteps = 64;
  Tensor<double> column({kSteps, 1});
  for (std::int64_t i = 0; i < kSteps; ++i) {
    column(i, 0) = 1 - static_cast<double>(i) / static_cast<double>(kSteps - 1);
  }
  drawing.image(left, top, kBarWidth, height,
                matrix_png(column.view(), {.low = 0, .high = 1, .map = scale.map}), true);
  Ticks ticks = color_ticks(scale, height);
  for (double& at : ticks.at) at = top + (1 - scale.place(at)) * height;
  const double right = left + kBarWidth;
  draw_ticks(drawing, ticks, Side::right, right);
  draw_y_label(drawing, label, right + kTickGap + widest(ticks.labels, kTickSize) + 13, top,
               height);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const double y = top + height + 20 + static_cast<double>(i) * kGapPitch;
    const Rgb grey = gaps[i] == kHidden ? kHiddenColor : color(scale.map, NAN);
    drawing.rect(left, y - kBarWidth / 2, kBarWidth, kBarWidth, hex(grey));
    drawing.text(right + kTickGap, y, gaps[i], {.size = kNoteSize, .color = kMuted});
  }
  return color_bar_width(scale, label, gaps, height);
}

}  // namespace sextant::pictures
