// Matrices side by side: numbers at the outer sides only, one colour bar. One alone is large.
#include <algorithm>
#include <cmath>

#include "pictures/chart_numbers.h"
#include "pictures/describe.h"
#include "pictures/layout.h"
#include "pictures/matrices/heatmap_cells.h"
#include "pictures/matrices/words.h"
#include "pictures/text.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

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
  for (const ColumnGroup& group : panels.column_groups) {
    if (group.count > 0 && group.first >= 0 && group.first <= values.size(2) - group.count)
      continue;
    throw Error("heatmap_panels.column_groups",
                "must be of columns 0 .. " + std::to_string(values.size(2) - 1) + ", got " +
                    std::to_string(group.count) + " from " + std::to_string(group.first) + " on");
  }
  check_max_width("heatmap_panels", panels.max_width);
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

void draw_x_ticks(Drawing& drawing, const Panel& panel, const Cells& cells, double first) {
  Ticks ticks = element_ticks(cells, first, false);
  for (double& at : ticks.at) at = panel.left + cells.center(at - first);
  draw_ticks(drawing, ticks, Side::below, panel.bottom());
}

void draw_y_ticks(Drawing& drawing, const Panel& panel, const Cells& cells, double first) {
  Ticks ticks = element_ticks(cells, first, true);
  for (double& at : ticks.at) at = panel.top + cells.center(at - first);
  draw_ticks(drawing, ticks, Side::left, panel.left);
}

// A line below the columns of each group, and its name below that.
void draw_groups(Drawing& drawing, const Panel& panel, const Cells& columns,
                 const std::vector<ColumnGroup>& groups, double top) {
  constexpr double kGap = 3;  // between the lines of neighbours, half of it
  for (const ColumnGroup& group : groups) {
    const double left = panel.left + static_cast<double>(group.first) * columns.pitch();
    const double width = static_cast<double>(group.count) * columns.pitch();
    if (width <= 2 * kGap) continue;
    drawing.line(left + kGap, top + 3, left + width - kGap, top + 3, kAxis, 2);
    const std::string shown = shorten(group.name, kTickSize, width);
    drawing.text(left + width / 2, top + 12, shown,
                 {.anchor = Anchor::middle, .tooltip = shown == group.name ? "" : group.name});
  }
}

// Returns the meaning of a pixel, if it is not one value.
std::string note_of(const HeatmapGrid& grid) {
  if (grid.rows.block == 1 && grid.columns.block == 1) return "";
  return "Each pixel is the mean of " + std::to_string(grid.rows.block) + " × " +
         std::to_string(grid.columns.block) + " values";
}

void draw_panel(Drawing& drawing, const HeatmapPanels& panels, const HeatmapGrid& grid,
                std::int64_t index, std::int64_t count, const Panel& panel) {
  if (!panels.titles.empty()) {
    const std::string& title = panels.titles[static_cast<std::size_t>(index)];
    const std::string shown = shorten(title, kPanelTitleSize, grid.pitch - 4, true);
    drawing.text(panel.left, panel.top - 11, shown,
                 {.size = kPanelTitleSize, .bold = true, .tooltip = shown == title ? "" : title});
  }
  if (index + grid.across >= count) {
    double below = panel.bottom() + grid.column_room;
    if (panels.column_labels.empty()) {
      draw_x_ticks(drawing, panel, grid.columns, panels.first_column);
    } else {
      draw_words_below(drawing, grid.below, panel.left, panel.bottom() + kTickGap);
    }
    draw_groups(drawing, panel, grid.columns, panels.column_groups, below);
    below += grid.group_room;
    draw_x_label(drawing, panel, panels.x_label, below + kAxisRoom / 2);
  }
  if (index % grid.across > 0) return;
  if (panels.row_labels.empty()) {
    draw_y_ticks(drawing, panel, grid.rows, panels.first_row);
  } else {
    draw_words_at_left(drawing, grid.at_left, panel.left - kTickGap, panel.top);
  }
  draw_y_label(drawing, panels.y_label, kMargin + kLabelSize / 2, panel.top, panel.height);
}

}  // namespace

Picture draw(const HeatmapPanels& panels) {
  const View<const double> values = check(panels);
  const std::int64_t count = values.size(0);
  const Extent extent = extent_of(values);
  const Scale scale = scale_of(panels, extent);
  const std::vector<std::string> gaps = gaps_of(extent, scale);
  const HeatmapGrid grid = heatmap_grid(panels, values, scale, gaps);
  const std::string note = note_of(grid);
  const double said = std::max(title_width(panels.title), text_width(note, kNoteSize));
  const double right = std::max(grid.bar_left + grid.bar_width,
                                std::min(grid.left + said, panels.max_width - kMargin));

  Drawing drawing;
  // One pixel more: the title's own width must not be lost to rounding.
  const double width = right - grid.left + 1;
  double top = draw_title(drawing, panels.title, grid.left, kMargin, width);
  if (!note.empty()) {
    drawing.text(grid.left, top - 4, shorten(note, kNoteSize, width),
                 {.size = kNoteSize, .color = kMuted});
    top += 14;
  }
  top = std::ceil(top + (panels.titles.empty() ? 0 : kMatrixTitle));
  for (std::int64_t i = 0; i < count; ++i) {
    const Panel panel = grid.panel(i, top);
    const Blocks blocks = average(values.select(0, i), grid.rows.count(), grid.columns.count());
    Panel elements = panel;  // the last cell may be of fewer
    elements.width = static_cast<double>(values.size(2)) * grid.columns.pitch();
    elements.height = static_cast<double>(values.size(1)) * grid.rows.pitch();
    open_map(drawing, elements, values.size(1), values.size(2), i);
    draw_image(drawing, panel, blocks.means.view(), scale);
    drawing.close();
    draw_panel(drawing, panels, grid, i, count, panel);
  }
  draw_color_bar(drawing, scale, panels.color_label, gaps, grid.bar_left, top, grid.bar_height);
  double bottom = grid.panel(count - 1, top).bottom() + grid.column_room + grid.group_room +
                  (panels.x_label.empty() ? 0 : kAxisRoom);
  bottom =
      std::max(bottom, top + grid.bar_height + 8 + static_cast<double>(gaps.size()) * kGapPitch);
  Picture picture =
      drawing.finish(right + kMargin, bottom + kMargin - 6, panels.title, describe(panels, values));
  picture.numbers = numbers_of(panels, values, scale);
  return picture;
}

}  // namespace sextant
