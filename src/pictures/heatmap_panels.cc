// Matrices side by side: numbers at the outer sides only, one colour bar. One alone is large.
#include <algorithm>
#include <cmath>

#include "pictures/describe.h"
#include "pictures/layout.h"
#include "pictures/text.h"
#include "pictures/words.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr double kTitleRoom = 20, kAcross = 18, kDown = 12;
constexpr double kGridWidth = 1000;  // where a grid's next row begins

// Sizes of a matrix that stands alone, and of one of several, in CSS pixels.
struct Sizes {
  double widest_cell, longest_bar;
  double whole;  // so many times the room may be taken for a pixel per element
  // Beyond these, pixels of the image are means of blocks.
  std::int64_t rows, columns;
};
// Twice as many rows as CSS pixels; more columns, because neighbouring columns of a position table
// are a sine and a cosine: their mean would be neither, so widths that models have keep them all.
constexpr Sizes kLarge = {48, 1e9, 1.6, 1280, 4096};
constexpr Sizes kSmall = {24, 300, 1, 320, 320};

View<const double> check(const HeatmapPanels& panels) {
  const View<const double> values = as_panels(panels.values);
  if (values.rank() != 3 || values.count() == 0) {
    throw Error("heatmap_panels.values",
                "must be [rows, columns] or [panels, rows, columns] and not empty, got " +
                    values.shape().to_string());
  }
  const auto titles = static_cast<std::int64_t>(panels.titles.size());
  if (titles != values.size(0) && (titles > 0 || values.size(0) > 1)) {
    throw Error("heatmap_panels.titles", "must be one per panel, " +
                                             std::to_string(values.size(0)) + ", got " +
                                             std::to_string(titles));
  }
  const auto compare = [&](const char* name, const std::vector<std::string>& labels, int axis) {
    if (labels.empty() || static_cast<std::int64_t>(labels.size()) == values.size(axis)) return;
    throw Error(name, "must be none or " + std::to_string(values.size(axis)) + ", got " +
                          std::to_string(labels.size()));
  };
  compare("heatmap_panels.row_labels", panels.row_labels, 1);
  compare("heatmap_panels.column_labels", panels.column_labels, 2);
  return values;
}

Scale scale_of(const HeatmapPanels& panels, const Extent& extent) {
  check_ends("heatmap_panels", panels.low, panels.high);
  double low = panels.low.value_or(extent.low), high = panels.high.value_or(extent.high);
  if (panels.map == ColorMap::diverging) {
    // Ends that are given decide, not the values.
    const bool given = panels.low || panels.high;
    const double largest =
        given ? std::max(std::abs(panels.low.value_or(0)), std::abs(panels.high.value_or(0)))
              : std::max(std::abs(low), std::abs(high));
    low = panels.low.value_or(-largest);
    high = panels.high.value_or(largest);
  }
  const Range range = color_range(low, high);
  return {.low = range.low, .high = range.high, .map = panels.map, .hides = panels.hides};
}

// One axis: whole pixels per element when that comes near the room there is.
double side(std::int64_t elements, double room, const Sizes& sizes) {
  const auto n = static_cast<double>(elements);
  if (n > room) return n > sizes.whole * room ? room : n;
  return n * std::min(std::round(room / n), sizes.widest_cell);
}

// A panel without its place.
Panel sized_panel(const HeatmapPanels& panels, const Blocks& blocks, const Sizes& sizes) {
  const View<const double> values = as_panels(panels.values);
  const std::int64_t rows = values.size(1), columns = values.size(2);
  const std::int64_t down = blocks.means.size(0), across = blocks.means.size(1);
  const double tall = static_cast<double>(rows) / static_cast<double>(columns);
  Panel panel;
  if (panels.titles.empty()) {
    panel.width = side(across, tall > 1 ? std::max(300.0, 560 / tall) : 600, sizes);
    panel.height =
        side(down, std::clamp(panel.width * tall, 280.0, std::max(560.0, panel.width)), sizes);
  } else {
    const double room = values.size(0) <= 4 ? 220 : 150;
    panel.width = side(across, rows * 3 < columns ? 2 * room : room, sizes);
    panel.height = side(down, room, sizes);
  }
  // A small table grows until the names of its axes fit.
  panel.width = std::max(panel.width, text_width(panels.x_label, kLabelSize) + 2);
  panel.height = std::max(panel.height, text_width(panels.y_label, kLabelSize) + 2);
  if (rows == columns) panel.width = panel.height = std::max(panel.width, panel.height);
  return panel;
}

// Numbers of the elements whose centres the ticks mark.
Ticks element_ticks(double first, std::int64_t count, double pixels, bool vertical) {
  const auto steps = static_cast<double>(count - 1);  // between the first centre and the last
  return fitting_ticks(first, first + steps, pixels * steps / static_cast<double>(count), vertical,
                       true);
}

// The centre of an element along `length` pixels, which show `blocks` blocks of elements: the last
// block may be of fewer.
double center(double element, std::int64_t block, std::int64_t blocks, double length) {
  const double count = static_cast<double>(block) * static_cast<double>(blocks);
  return (element + 0.5) / count * length;
}

void draw_x_ticks(Drawing& drawing, const Panel& panel, const Ticks& ticks, double first,
                  const Blocks& blocks) {
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double x =
        panel.left + center(ticks.at[i] - first, blocks.columns, blocks.means.size(1), panel.width);
    drawing.line(x, panel.bottom(), x, panel.bottom() + 4, kAxis);
    drawing.text(x, panel.bottom() + 13, ticks.labels[i],
                 {.anchor = Anchor::middle, .color = kMuted});
  }
}

void draw_y_ticks(Drawing& drawing, const Panel& panel, const Ticks& ticks, double first,
                  const Blocks& blocks) {
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double y =
        panel.top + center(ticks.at[i] - first, blocks.rows, blocks.means.size(0), panel.height);
    drawing.line(panel.left - 4, y, panel.left, y, kAxis);
    drawing.text(panel.left - kTickGap, y, ticks.labels[i],
                 {.anchor = Anchor::end, .color = kMuted});
  }
}

}  // namespace

Picture draw(const HeatmapPanels& panels) {
  const View<const double> values = check(panels);
  const std::int64_t count = values.size(0);
  const bool titled = !panels.titles.empty();
  const Sizes& sizes = titled ? kSmall : kLarge;
  const Extent extent = extent_of(values);
  const Scale scale = scale_of(panels, extent);
  const std::vector<std::string> gaps = gaps_of(extent, scale);
  Blocks blocks = average(values.select(0, 0), sizes.rows, sizes.columns);
  Panel panel = sized_panel(panels, blocks, sizes);

  const Ticks x = element_ticks(panels.first_column, values.size(2), panel.width, false);
  const Ticks y = element_ticks(panels.first_row, values.size(1), panel.height, true);
  const auto cells = [](double length, std::int64_t block, std::int64_t count_of_blocks) {
    return length / static_cast<double>(block * count_of_blocks);
  };
  const Words at_left =
      words_at_left(panels.row_labels, cells(panel.height, blocks.rows, blocks.means.size(0)));
  const Words below =
      words_below(panels.column_labels, cells(panel.width, blocks.columns, blocks.means.size(1)));
  const double row_room = panels.row_labels.empty() ? widest(y.labels, kTickSize) : at_left.room;
  const double column_room = panels.column_labels.empty() ? kTickRoom : kTickGap + below.room + 6;
  const double left =
      kMargin +
      std::max((panels.y_label.empty() ? 0 : kAxisRoom) + row_room + kTickGap, below.overhang);
  const double pitch =
      std::max({panel.width + kAcross, widest(panels.titles, kPanelTitleSize, true) + kAcross,
                count > 1 && below.angle == -45 ? below.overhang : 0});
  const std::int64_t across = grid_columns(count, static_cast<std::int64_t>(kGridWidth / pitch));
  const double bar_left = left + static_cast<double>(across) * pitch;
  const double bar_height = std::max(kShortestBar, std::min(panel.height, sizes.longest_bar));
  const double bar_width = color_bar_width(scale, panels.color_label, gaps, bar_height);
  const std::string note = blocks.rows == 1 && blocks.columns == 1
                               ? ""
                               : "Each pixel is the mean of " + std::to_string(blocks.rows) +
                                     " × " + std::to_string(blocks.columns) + " values.";
  const double right = std::max(
      {bar_left + bar_width, left + title_width(panels.title), left + text_width(note, kNoteSize)});

  Drawing drawing;
  const double above = titled ? kTitleRoom : 0;
  // One pixel more: the title's own width must not be lost to rounding.
  const double top = above + draw_title(drawing, panels.title, left, kMargin, right - left + 1);
  const auto at = [&](std::int64_t i) {
    Panel placed = panel;
    placed.left = left + static_cast<double>(i % across) * pitch;
    placed.top = top + static_cast<double>(i / across) * (panel.height + kTitleRoom + kDown);
    return placed;
  };
  for (std::int64_t i = 0; i < count; ++i) {
    panel = at(i);
    if (titled) {
      drawing.text(panel.left, panel.top - 11, panels.titles[static_cast<std::size_t>(i)],
                   {.size = kPanelTitleSize, .bold = true});
    }
    if (i > 0) blocks = average(values.select(0, i), sizes.rows, sizes.columns);
    open_map(drawing, panel, values.size(1), values.size(2), i);
    draw_image(drawing, panel, blocks.means.view(), scale);
    drawing.close();
    const bool lowest = i + across >= count;
    if (lowest && panels.column_labels.empty()) {
      draw_x_ticks(drawing, panel, x, panels.first_column, blocks);
    } else if (lowest) {
      draw_words_below(drawing, below, panel.left, panel.bottom() + kTickGap);
    }
    if (i % across == 0 && panels.row_labels.empty()) {
      draw_y_ticks(drawing, panel, y, panels.first_row, blocks);
    } else if (i % across == 0) {
      draw_words_at_left(drawing, at_left, panel.left - kTickGap, panel.top);
    }
  }
  draw_color_bar(drawing, scale, panels.color_label, gaps, bar_left, top, bar_height);
  for (std::int64_t i = 0; i < count; ++i) {
    const double label_at = at(i).bottom() + column_room + kAxisRoom / 2;
    if (i + across >= count) draw_x_label(drawing, at(i), panels.x_label, label_at);
    if (i % across > 0) continue;
    draw_y_label(drawing, panels.y_label, kMargin + kLabelSize / 2, at(i).top, panel.height);
  }
  double bottom = panel.bottom() + column_room + (panels.x_label.empty() ? 0 : kAxisRoom);
  drawing.text(left, bottom + 12, note, {.size = kNoteSize, .color = kMuted});
  if (!note.empty()) bottom += 20;
  bottom = std::max(bottom, top + bar_height + 8 + static_cast<double>(gaps.size()) * kGapPitch);
  return drawing.finish(right + kMargin, bottom + kMargin - 6, panels.title,
                        describe(panels, values));
}

}  // namespace sextant
