// Ticks, axes, legends and colour bars.
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
constexpr double kShortestRange = 1e-12;  // the shortest range, as a share of its larger end
constexpr int kMaxTicks = 64;             // no chart needs more
constexpr std::array<std::string_view, 4> kDashes = {"", "6 3", "2 3", "8 3 2 3"};

// Whether round numbers fit between the two, and their steps into float64.
bool is_range(double low, double high) {
  const double largest = std::max(std::abs(low), std::abs(high));
  return high - low > largest * kShortestRange && high - low >= kShortest &&
         largest <= 10 * kLargest;
}

std::string tick_label(double value, double step) {
  std::string text;
  if (std::abs(value) >= 1e7 || step < 1e-5) {
    const double digits =
        std::abs(value) > step ? std::ceil(std::log10(std::abs(value) / step)) : 0;
    text = significant(value, std::clamp(static_cast<int>(digits) + 1, 1, 17));
  } else {
    // A step of 0.05 has its last digit two places after the point.
    text = fixed(value, std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9))));
  }
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

// Returns the smallest round step with at most `max_ticks` multiples in [low, high].
double round_step(double low, double high, int max_ticks, bool whole) {
  double power = std::pow(10.0, std::floor(std::log10((high - low) / std::max(1, max_ticks))));
  if (whole) power = std::max(power, 1.0);
  while (true) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double step = power * factor;
      if (std::floor(high / step) - std::ceil(low / step) + 1 <= max_ticks) return step;
    }
    power *= 10;
  }
}

// Returns factor * 10^decade as text. A range's margin may reach beyond what float64 holds in full.
std::string power_label(double factor, int decade) {
  constexpr int kPlain = 300;
  if (std::abs(decade) < kPlain) {
    return significant(factor * std::pow(10.0, decade), decade < 7 ? 7 : 2);
  }
  return shortest(factor) + (decade < 0 ? "e-" : "e+") + std::to_string(std::abs(decade));
}

// factor * 10^decade for every factor, of every `decades`-th decade.
Ticks log_ticks(double low, double high, const std::vector<double>& factors, int decades) {
  constexpr double kSlack = 1e-9;  // an end that is a power of ten has its tick
  Ticks ticks;
  const int first = static_cast<int>(std::floor(low / decades)) * decades;
  for (int decade = first; decade <= high + kSlack; decade += decades) {
    for (const double factor : factors) {
      const double at = decade + std::log10(factor);
      if (at < low - kSlack || at > high + kSlack) continue;
      ticks.at.push_back(at);
      ticks.labels.push_back(power_label(factor, decade));
    }
  }
  return ticks;
}

}  // namespace

std::string_view series_color(std::size_t index) { return kSeries[index % kSeries.size()]; }

std::string_view series_dash(std::size_t index) {
  return kDashes[index / kSeries.size() % kDashes.size()];
}

Ticks round_ticks(double low, double high, int max_ticks, bool whole) {
  Ticks ticks;
  // Also when counting steps would need more digits than a double has.
  if (!is_range(low, high)) {
    ticks.at = {low};
    ticks.labels = {tick_label(low, whole ? 1 : std::max(std::abs(low) / 1000, 1e-9))};
    return ticks;
  }
  // A rounding error must not lose a tick that is exactly on an end.
  const double slack = (high - low) * 1e-9;
  low -= slack;
  high += slack;
  const double step = round_step(low, high, std::max(max_ticks, 1), whole);
  for (double k = std::ceil(low / step); k * step <= high; ++k) {
    ticks.at.push_back(k * step);
    ticks.labels.push_back(tick_label(k * step, step));
  }
  // The steps may pass over a short range: then one of the ticks of the finer step.
  if (ticks.at.empty() && max_ticks < kMaxTicks) {
    ticks = round_ticks(low, high, max_ticks + 1, whole);
    ticks.at.resize(std::min<std::size_t>(1, ticks.at.size()));
    ticks.labels.resize(ticks.at.size());
  }
  return ticks;
}

Ticks fitting_ticks(double low, double high, double pixels, bool vertical, bool whole) {
  const double pitch = !vertical ? 36 : pixels < 200 ? 24 : 32;
  for (int count = std::max(2, static_cast<int>(pixels / pitch));; --count) {
    Ticks ticks = round_ticks(low, high, count, whole);
    if (ticks.at.size() < 2) return ticks;
    const double gap = (ticks.at[1] - ticks.at[0]) / (high - low) * pixels;
    if (gap >= (vertical ? 2 * kTickSize : widest(ticks.labels, kTickSize) + 12)) return ticks;
  }
}

Ticks fitting_log_ticks(double low, double high, double pixels, bool vertical) {
  const std::vector<std::vector<double>> choices = {
      {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 7}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}};
  Ticks ticks;
  // Ever fewer in a decade, then every second decade, every third, ..
  for (std::size_t tried = 0;; ++tried) {
    const auto& factors = choices[std::min(tried, choices.size() - 1)];
    const int decades = 1 + static_cast<int>(tried - std::min(tried, choices.size() - 1));
    ticks = log_ticks(low, high, factors, decades);
    double gap = pixels;
    for (std::size_t i = 1; i < ticks.at.size(); ++i) {
      gap = std::min(gap, (ticks.at[i] - ticks.at[i - 1]) / (high - low) * pixels);
    }
    if (gap >= (vertical ? 1.5 * kTickSize : widest(ticks.labels, kTickSize) + 12)) break;
  }
  if (ticks.at.size() >= 3 || high - low > 1) return ticks;
  ticks = fitting_ticks(std::pow(10.0, low), std::pow(10.0, high), pixels, vertical);
  for (double& at : ticks.at) at = std::log10(at);
  return ticks;
}

Range range_of(double low, double high, double margin) {
  // Also when the two differ only in their last bits, where no tick would fit between.
  if (!is_range(low, high)) {
    const double half = std::abs(low) < kShortest * 10 ? 1 : std::abs(low) * 0.1;
    return {low - half, high + half};
  }
  const double added = (high - low) * margin;
  return {low - added, high + added};
}

Range color_range(double low, double high) {
  return low < high && high - low >= kShortest ? Range{low, high} : range_of(low, low, 0);
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

void draw_axes(Drawing& drawing, const Panel& panel, const Ticks& x, const Ticks& y,
               bool labels_left) {
  for (std::size_t i = 0; i < y.at.size(); ++i) {
    const double at = panel.down(y.at[i]);
    drawing.line(panel.left, at, panel.right(), at, kGrid);
    if (!labels_left) continue;
    drawing.text(panel.left - kTickGap, at, y.labels[i], {.anchor = Anchor::end, .color = kMuted});
  }
  for (std::size_t i = 0; i < x.at.size(); ++i) {
    const double at = panel.across(x.at[i]);
    drawing.line(at, panel.bottom(), at, panel.bottom() + 4, kAxis);
    drawing.text(at, panel.bottom() + 13, x.labels[i], {.anchor = Anchor::middle, .color = kMuted});
  }
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
  const Ticks ticks = color_ticks(scale, height);
  const double right = left + kBarWidth;
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double y = top + (1 - scale.place(ticks.at[i])) * height;
    drawing.line(right, y, right + 4, y, kAxis);
    drawing.text(right + kTickGap, y, ticks.labels[i], {.color = kMuted});
  }
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
