// Cells of whole pixels, as large as a picture has room for.
#include "pictures/matrices/heatmap_cells.h"

#include <algorithm>
#include <cmath>

#include "pictures/text.h"

namespace sextant::pictures {
namespace {

constexpr double kAcross = 18, kDown = 12;  // between panels
constexpr double kTallest = 900;            // of a single matrix
constexpr double kLongestSide = 320;        // of one of several
constexpr double kLeastSide = 40;           // of one that has to shrink
constexpr double kNearly = 0.85;            // a panel may be so much smaller to have neighbours

// The size of a matrix without limits, and its largest size.
struct Room {
  double across = 0, down = 0, widest_cell = 0, tallest = 0;
};

Room room_of(const HeatmapPanels& panels, View<const double> values, double most) {
  constexpr double kWidestLarge = 48, kWidestSmall = 24;
  const std::int64_t rows = values.size(1), columns = values.size(2);
  if (!panels.titles.empty()) {
    const double side = values.size(0) <= 4 ? 220 : 150;
    return {rows * 3 < columns ? 2 * side : side, side, kWidestSmall, kLongestSide};
  }
  const double tall = static_cast<double>(rows) / static_cast<double>(columns);
  const double across = tall > 1 ? std::max(300.0, 560 / tall) : 600;
  const double wide = fitting_cells(columns, across, most, kWidestLarge).length();
  const double down = std::clamp(wide * tall, std::min(280.0, most), std::max(560.0, wide));
  return {across, down, kWidestLarge, kTallest};
}

// A small matrix grows until the name of its axis fits.
void grow(Cells& cells, std::string_view name, double most) {
  const double needed = std::min(text_width(name, kLabelSize) + 2, most);
  cells.size = std::max(cells.size, std::ceil(needed / static_cast<double>(cells.count())));
}

void set_cells(HeatmapGrid& grid, const HeatmapPanels& panels, View<const double> values,
               double most) {
  const Room room = room_of(panels, values, most);
  if (!panels.titles.empty()) most = std::min(most, std::max(kLongestSide, room.across));
  const bool square = values.size(1) == values.size(2);
  if (square) most = std::min(most, room.tallest);
  grid.columns = fitting_cells(values.size(2), room.across, most, room.widest_cell);
  grow(grid.columns, panels.x_label, most);
  grid.rows = square ? grid.columns
                     : fitting_cells(values.size(1), room.down, room.tallest, room.widest_cell);
  grow(grid.rows, panels.y_label, room.tallest);
  if (square) grid.columns = grid.rows;
}

// Words, axes and the colour bar around them.
void place(HeatmapGrid& grid, const HeatmapPanels& panels, const Scale& scale,
           const std::vector<std::string>& gaps) {
  const double longest = std::min(kLongestWord, panels.max_width / 6);
  grid.at_left = words_at_left(panels.row_labels, grid.rows.pitch(), longest);
  grid.below = words_below(panels.column_labels, grid.columns.pitch(), longest);
  const Ticks rows = element_ticks(grid.rows, panels.first_row, true);
  grid.row_room = panels.row_labels.empty() ? widest(rows.labels, kTickSize) : grid.at_left.room;
  grid.column_room = panels.column_labels.empty() ? kTickRoom : kTickGap + grid.below.room + 6;
  grid.group_room = panels.column_groups.empty() ? 0 : kGroupRoom;
  const double beside = (panels.y_label.empty() ? 0 : kAxisRoom) + grid.row_room + kTickGap;
  grid.left = std::ceil(kMargin + std::max(beside, grid.below.overhang));
  const bool several = grid.across > 1;
  const double titles = widest(panels.titles, kPanelTitleSize, true);
  grid.pitch = std::ceil(
      kAcross + std::max({grid.columns.length(), several ? titles : 0,
                          several && grid.below.angle == -45 ? grid.below.overhang - kAcross : 0}));
  grid.bar_left = grid.left + static_cast<double>(grid.across) * grid.pitch;
  grid.bar_height = grid.rows.length();
  if (!panels.titles.empty()) grid.bar_height = std::min(grid.bar_height, 300.0);
  grid.bar_height = std::max(kShortestBar, grid.bar_height);
  grid.bar_width = color_bar_width(scale, panels.color_label, gaps, grid.bar_height);
}

}  // namespace

Cells fitting_cells(std::int64_t elements, double room, double most, double widest) {
  const auto pixels = static_cast<std::int64_t>(std::max(1.0, std::floor(most)));
  Cells cells{.elements = elements, .block = (elements + pixels - 1) / pixels};
  if (cells.block > 1) return cells;
  const auto n = static_cast<double>(elements);
  const double fit = static_cast<double>(pixels / elements);
  cells.size = std::clamp(std::round(std::min(room, most) / n), 1.0, std::min(fit, widest));
  return cells;
}

Ticks element_ticks(const Cells& cells, double first, bool vertical) {
  const auto steps = static_cast<double>(cells.elements - 1);
  return fitting_ticks(first, first + steps, cells.pitch() * steps, vertical, true);
}

Panel HeatmapGrid::panel(std::int64_t index, double top) const {
  return {.left = left + static_cast<double>(index % across) * pitch,
          .top = top + static_cast<double>(index / across) * (rows.length() + kMatrixTitle + kDown),
          .width = columns.length(),
          .height = rows.length()};
}

HeatmapGrid heatmap_grid(const HeatmapPanels& panels, View<const double> values, const Scale& scale,
                         const std::vector<std::string>& gaps) {
  const std::int64_t count = values.size(0);
  HeatmapGrid grid;
  for (auto fit = std::min(count, static_cast<std::int64_t>(panels.max_width / kLeastSide));;
       --fit) {
    grid.across = grid_columns(count, fit);
    double most = panels.max_width, natural = 0;
    while (true) {
      set_cells(grid, panels, values, most);
      place(grid, panels, scale, gaps);
      natural = std::max(natural, grid.columns.length());
      if (fit > 1 && grid.columns.length() < kNearly * natural) break;
      const double excess = grid.bar_left + grid.bar_width + kMargin - panels.max_width;
      if (excess <= 0 || most <= kLeastSide) return grid;
      const double less = std::max(1.0, std::ceil(excess / static_cast<double>(grid.across)));
      most = std::max(kLeastSide, std::min(most, grid.columns.length()) - less);
    }
  }
}

}  // namespace sextant::pictures
