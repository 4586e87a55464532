// A grid of equal panels that share both axes.
#include "pictures/small_multiples.h"

#include <algorithm>

#include "pictures/text.h"

namespace sextant::pictures {

Extents draw_small_multiples(Drawing& drawing, const SmallMultiples& grid, double top,
                             const std::function<void(const Panel&, std::size_t)>& fill) {
  constexpr double kTitleRoom = 22, kAcross = 26, kDown = 14;
  const Ticks x = fitting_ticks(grid.x.low, grid.x.high, grid.panel_width, false, grid.whole_x);
  const Ticks y = fitting_ticks(grid.y.low, grid.y.high, grid.panel_height, true);
  const double left =
      kMargin + (grid.y_label.empty() ? 0 : kAxisRoom) + widest(y.labels, kTickSize) + kTickGap;
  const double label_room = grid.x_label.empty() ? 0 : kAxisRoom;
  const double pitch = kTitleRoom + grid.panel_height + kTickRoom + label_room + kDown;

  Extents extents{left, left, top};
  for (std::size_t i = 0; i < grid.titles.size(); ++i) {
    const auto column = static_cast<double>(i % grid.columns);
    const auto row = static_cast<double>(i / grid.columns);
    const Panel panel{.left = left + column * (grid.panel_width + kAcross),
                      .top = top + row * pitch + kTitleRoom,
                      .width = grid.panel_width,
                      .height = grid.panel_height,
                      .x = grid.x,
                      .y = grid.y};
    const std::string shown = shorten(grid.titles[i], kPanelTitleSize, panel.width, true);
    drawing.text(panel.left, panel.top - 12, shown,
                 {.size = kPanelTitleSize,
                  .bold = true,
                  .tooltip = shown == grid.titles[i] ? "" : grid.titles[i]});
    draw_axes(drawing, panel, x, y, column == 0);
    draw_x_label(drawing, panel, grid.x_label, panel.bottom() + kTickRoom + kAxisRoom / 2);
    if (column == 0) {
      draw_y_label(drawing, grid.y_label, kMargin + kLabelSize / 2, panel.top, panel.height);
    }
    fill(panel, i);
    extents.right = std::max(extents.right, panel.right());
    extents.bottom = std::max(extents.bottom, panel.bottom() + kTickRoom + label_room);
  }
  return extents;
}

}  // namespace sextant::pictures
