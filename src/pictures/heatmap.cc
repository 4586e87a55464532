// A matrix as an image with axes and colour bar.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr std::int64_t kPixelRows = 1280;  // at most: two per CSS pixel of the largest plot
// More, because neighbouring columns of a position table are a sine and a cosine: their mean would
// be neither, so widths that models have keep every column.
constexpr std::int64_t kPixelColumns = 4096;

// CSS pixels for one axis: whole pixels per element when that comes near the room there is.
double side(std::int64_t elements, double room) {
  const auto n = static_cast<double>(elements);
  if (n > room) return n > 1.6 * room ? room : n;
  return n * std::min(std::round(room / n), 48.0);
}

Scale scale_of(const Heatmap& heatmap, const Extent& extent) {
  check_ends("heatmap", heatmap.low, heatmap.high);
  double low = extent.low, high = extent.high;
  if (heatmap.map == ColorMap::diverging) {
    high = std::max({std::abs(low), std::abs(high), std::abs(heatmap.low.value_or(0)),
                     std::abs(heatmap.high.value_or(0))});
    if (heatmap.low || heatmap.high) {
      high = std::max(std::abs(heatmap.low.value_or(0)), std::abs(heatmap.high.value_or(0)));
    }
    low = -high;
  }
  low = heatmap.low.value_or(low);
  high = heatmap.high.value_or(high);
  const Range range = color_range(low, high);
  return {.low = range.low, .high = range.high, .map = heatmap.map};
}

// Numbers of the elements whose centres the ticks mark; an element is `blocks` rows or columns of
// the matrix.
Ticks element_ticks(double first, std::int64_t count, double pixels, bool vertical) {
  const auto steps = static_cast<double>(count - 1);  // between the first centre and the last
  return fitting_ticks(first, first + steps, pixels * steps / static_cast<double>(count), vertical,
                       true);
}

std::string blocks_note(const Blocks& blocks) {
  return "Each pixel is the mean of " + std::to_string(blocks.rows) + " × " +
         std::to_string(blocks.columns) + " values.";
}

}  // namespace

Picture draw(const Heatmap& heatmap) {
  if (heatmap.values.rank() != 2 || heatmap.values.count() == 0) {
    throw Error("heatmap.values",
                "must be [rows, columns] and not empty, got " + heatmap.values.shape().to_string());
  }
  const std::int64_t rows = heatmap.values.size(0), columns = heatmap.values.size(1);
  const Extent extent = extent_of(heatmap.values);
  const Scale scale = scale_of(heatmap, extent);
  const Blocks blocks = average(heatmap.values, kPixelRows, kPixelColumns);
  const std::int64_t down = blocks.means.size(0), across = blocks.means.size(1);
  const bool averaged = blocks.rows > 1 || blocks.columns > 1;

  Panel panel;
  const double square = static_cast<double>(rows) / static_cast<double>(columns);
  const double room_across = square > 1 ? std::max(300.0, 560 / square) : 600;
  panel.width = side(across, room_across);
  panel.height = side(down, std::clamp(panel.width * square, 280.0, std::max(560.0, panel.width)));
  // A small table grows until the names of its axes fit.
  panel.width = std::max(panel.width, text_width(heatmap.x_label, kLabelSize) + 2);
  panel.height = std::max(panel.height, text_width(heatmap.y_label, kLabelSize) + 2);
  if (rows == columns) panel.width = panel.height = std::max(panel.width, panel.height);

  const Ticks x_ticks = element_ticks(heatmap.first_column, columns, panel.width, false);
  const Ticks y_ticks = element_ticks(heatmap.first_row, rows, panel.height, true);
  panel.left = kMargin + (heatmap.y_label.empty() ? 0 : kAxisRoom) +
               widest(y_ticks.labels, kTickSize) + kTickGap;
  const double bar_left = panel.left + panel.width + 18;
  const double bar_height = std::max(kShortestBar, panel.height);
  const double bar_width =
      color_bar_width(scale, heatmap.color_label, !extent.all_finite, bar_height);

  Drawing drawing;
  const std::string note = averaged ? blocks_note(blocks) : "";
  const double right = std::max({bar_left + bar_width, panel.left + title_width(heatmap.title),
                                 panel.left + text_width(note, kNoteSize)});
  // One pixel more: the title's own width must not be lost to rounding.
  panel.top = draw_title(drawing, heatmap.title, panel.left, kMargin, right - panel.left + 1);
  const double wide = panel.width / static_cast<double>(across);
  const double high = panel.height / static_cast<double>(down);
  drawing.image(panel.left, panel.top, panel.width, panel.height,
                matrix_png(blocks.means.view(), scale, repeats(wide), repeats(high)),
                std::min(wide, high) >= kCrisp);

  // Element e of the matrix is drawn from e / blocks to (e + 1) / blocks pixels of the image.
  const auto pixel_center = [](double element, std::int64_t per_pixel, std::int64_t pixels,
                               double length) {
    const double count = static_cast<double>(per_pixel) * static_cast<double>(pixels);
    return (element + 0.5) / count * length;
  };
  for (std::size_t i = 0; i < x_ticks.at.size(); ++i) {
    const double x = panel.left + pixel_center(x_ticks.at[i] - heatmap.first_column, blocks.columns,
                                               across, panel.width);
    drawing.line(x, panel.bottom(), x, panel.bottom() + 4, kAxis);
    drawing.text(x, panel.bottom() + 13, x_ticks.labels[i],
                 {.anchor = Anchor::middle, .color = kMuted});
  }
  for (std::size_t i = 0; i < y_ticks.at.size(); ++i) {
    const double y = panel.top + pixel_center(y_ticks.at[i] - heatmap.first_row, blocks.rows, down,
                                              panel.height);
    drawing.line(panel.left - 4, y, panel.left, y, kAxis);
    drawing.text(panel.left - kTickGap, y, y_ticks.labels[i],
                 {.anchor = Anchor::end, .color = kMuted});
  }
  draw_color_bar(drawing, scale, heatmap.color_label, !extent.all_finite, bar_left, panel.top,
                 bar_height);
  double bottom = panel.bottom() + kTickRoom;
  if (!heatmap.x_label.empty()) {
    draw_x_label(drawing, panel, heatmap.x_label, bottom + kAxisRoom / 2);
    bottom += kAxisRoom;
  }
  draw_y_label(drawing, heatmap.y_label, kMargin + kLabelSize / 2, panel.top, panel.height);
  if (averaged) {
    drawing.text(panel.left, bottom + 12, note, {.size = kNoteSize, .color = kMuted});
    bottom += 20;
  }
  bottom = std::max(bottom, panel.top + bar_height + (extent.all_finite ? 8 : 30));
  return drawing.finish(right + kMargin, bottom + kMargin - 6, heatmap.title);
}

}  // namespace sextant
