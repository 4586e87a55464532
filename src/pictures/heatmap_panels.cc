// Matrices side by side: numbers at the outer sides only, one colour bar.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr double kTitleRoom = 20, kAcross = 18, kDown = 12;
constexpr double kWidest = 1000;           // of the grid
constexpr std::int64_t kMostPixels = 320;  // of a panel's side: beyond, means of blocks

void check(const HeatmapPanels& panels) {
  if (panels.values.rank() != 3 || panels.values.count() == 0) {
    throw Error("heatmap_panels.values", "must be [panels, rows, columns] and not empty, got " +
                                             panels.values.shape().to_string());
  }
  if (static_cast<std::int64_t>(panels.titles.size()) != panels.values.size(0)) {
    throw Error("heatmap_panels.titles", "must be one per panel, " +
                                             std::to_string(panels.values.size(0)) + ", got " +
                                             std::to_string(panels.titles.size()));
  }
}

Scale scale_of(const HeatmapPanels& panels, bool& all_finite) {
  check_ends("heatmap_panels", panels.low, panels.high);
  Extent all = extent_of(panels.values.select(0, 0));
  for (std::int64_t i = 1; i < panels.values.size(0); ++i) {
    const Extent one = extent_of(panels.values.select(0, i));
    all = {std::min(all.low, one.low), std::max(all.high, one.high),
           all.all_finite && one.all_finite};
  }
  all_finite = all.all_finite;
  if (panels.map == ColorMap::diverging) {
    all.high = std::max(std::abs(all.low), std::abs(all.high));
    all.low = -all.high;
  }
  const double low = panels.low.value_or(all.low), high = panels.high.value_or(all.high);
  const Range range = color_range(low, high);
  return {.low = range.low, .high = range.high, .map = panels.map};
}

// CSS pixels for one side of a panel.
double side(std::int64_t elements, double room) {
  const auto n = static_cast<double>(elements);
  return n > room ? room : n * std::clamp(std::round(room / n), 1.0, 24.0);
}

// Panels side by side: as many as fit, then as few as give the same number of lines.
std::int64_t grid_columns(std::int64_t count, double pitch) {
  const auto fit = std::clamp<std::int64_t>(static_cast<std::int64_t>(kWidest / pitch), 1, count);
  const std::int64_t lines = (count + fit - 1) / fit;
  return (count + lines - 1) / lines;
}

Ticks element_ticks(double first, std::int64_t count, double pixels, bool vertical) {
  const auto steps = static_cast<double>(count - 1);  // between the first centre and the last
  return fitting_ticks(first, first + steps, pixels * steps / static_cast<double>(count), vertical,
                       true);
}

// The place of the centre of the element that counts as `at`.
double center(double at, double first, std::int64_t count, double pixels) {
  return (at - first + 0.5) / static_cast<double>(count) * pixels;
}

}  // namespace

Picture draw(const HeatmapPanels& panels) {
  check(panels);
  const std::int64_t count = panels.values.size(0), rows = panels.values.size(1),
                     columns = panels.values.size(2);
  bool all_finite = true;
  const Scale scale = scale_of(panels, all_finite);
  double title = 0;
  for (const std::string& name : panels.titles) {
    title = std::max(title, text_width(name, kPanelTitleSize, true));
  }
  const double room = count <= 4 ? 220 : 150;
  Panel panel;
  panel.width = side(columns, rows * 3 < columns ? 2 * room : room);
  panel.height = rows == columns ? panel.width : side(rows, room);
  panel.width = std::max(panel.width, text_width(panels.x_label, kLabelSize) + 2);
  panel.height = std::max(panel.height, text_width(panels.y_label, kLabelSize) + 2);
  if (rows == columns) panel.width = panel.height = std::max(panel.width, panel.height);

  const Ticks x = element_ticks(panels.first_column, columns, panel.width, false);
  const Ticks y = element_ticks(panels.first_row, rows, panel.height, true);
  const double left =
      kMargin + (panels.y_label.empty() ? 0 : kAxisRoom) + widest(y.labels, kTickSize) + kTickGap;
  const double pitch = std::max(panel.width, title) + kAcross;
  const std::int64_t across = grid_columns(count, pitch);
  const double bar_left = left + static_cast<double>(across) * pitch;
  const double bar_height = std::max(kShortestBar, std::min(panel.height, 300.0));
  const double right =
      std::max(bar_left + color_bar_width(scale, panels.color_label, !all_finite, bar_height),
               left + title_width(panels.title));

  Drawing drawing;
  // One pixel more: the title's own width must not be lost to rounding.
  const double top = draw_title(drawing, panels.title, left, kMargin, right - left + 1);
  double bottom = top;
  for (std::int64_t i = 0; i < count; ++i) {
    panel.left = left + static_cast<double>(i % across) * pitch;
    panel.top =
        top + kTitleRoom + static_cast<double>(i / across) * (panel.height + kTitleRoom + kDown);
    drawing.text(panel.left, panel.top - 11, panels.titles[static_cast<std::size_t>(i)],
                 {.size = kPanelTitleSize, .bold = true});
    const Blocks blocks = average(panels.values.select(0, i), kMostPixels, kMostPixels);
    const double wide = panel.width / static_cast<double>(blocks.means.size(1));
    const double high = panel.height / static_cast<double>(blocks.means.size(0));
    drawing.image(panel.left, panel.top, panel.width, panel.height,
                  matrix_png(blocks.means.view(), scale, repeats(wide), repeats(high)),
                  std::min(wide, high) >= kCrisp);
    if (i % across == 0) {
      for (std::size_t t = 0; t < y.at.size(); ++t) {
        const double at = panel.top + center(y.at[t], panels.first_row, rows, panel.height);
        drawing.line(panel.left - 4, at, panel.left, at, kAxis);
        drawing.text(panel.left - kTickGap, at, y.labels[t],
                     {.anchor = Anchor::end, .color = kMuted});
      }
      draw_y_label(drawing, panels.y_label, kMargin + kLabelSize / 2, panel.top, panel.height);
    }
    if (i + across < count) continue;  // another one stands below
    for (std::size_t t = 0; t < x.at.size(); ++t) {
      const double at = panel.left + center(x.at[t], panels.first_column, columns, panel.width);
      drawing.line(at, panel.bottom(), at, panel.bottom() + 4, kAxis);
      drawing.text(at, panel.bottom() + 13, x.labels[t],
                   {.anchor = Anchor::middle, .color = kMuted});
    }
    draw_x_label(drawing, panel, panels.x_label, panel.bottom() + kTickRoom + kAxisRoom / 2);
    bottom =
        std::max(bottom, panel.bottom() + kTickRoom + (panels.x_label.empty() ? 0 : kAxisRoom));
  }
  draw_color_bar(drawing, scale, panels.color_label, !all_finite, bar_left, top + kTitleRoom,
                 bar_height);
  bottom = std::max(bottom, top + kTitleRoom + bar_height + (all_finite ? 8 : 30));
  return drawing.finish(right + kMargin, bottom + kMargin - 6, panels.title);
}

}  // namespace sextant
