// The maps of all heads in one grid: words at the outer sides only, one colour bar.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "pictures/words.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

// Long sentences get panels as wide as a page, with room for a word per row.
double cell_size(std::int64_t words) {
  constexpr std::int64_t kLong = 30;
  const double n = static_cast<double>(words);
  if (words > 64) return 832 / n;
  return words > kLong ? 13 : std::clamp(std::round(200 / n), 10.0, 40.0);
}

// Panels side by side: as many as fit, then as few as give the same number of lines.
std::int64_t grid_columns(std::int64_t heads, double pitch) {
  const auto fit = static_cast<std::int64_t>(1000 / pitch);
  const auto square = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(heads))));
  const std::int64_t most = std::min(heads, std::max(fit, std::min<std::int64_t>(square, 3)));
  const std::int64_t lines = (heads + most - 1) / most;
  return (heads + lines - 1) / lines;
}

Extent extent_of_all(View<const double> weights) {
  Extent all = extent_of(weights.select(0, 0));
  for (std::int64_t head = 1; head < weights.size(0); ++head) {
    const Extent one = extent_of(weights.select(0, head));
    all = {std::min(all.low, one.low), std::max(all.high, one.high),
           all.all_finite && one.all_finite};
  }
  return all;
}

}  // namespace

Picture draw(const AttentionMaps& maps) {
  constexpr double kTitleRoom = 20, kAcross = 16, kDown = 12;
  check_words("attention_maps", maps.weights, 3, maps.queries, maps.keys);
  const std::int64_t heads = maps.weights.size(0);
  const Extent extent = extent_of_all(maps.weights);
  const Scale scale = weight_scale(extent, std::nullopt, "attention_maps");
  const double cell = cell_size(std::max(maps.weights.size(1), maps.weights.size(2)));
  const Words at_left = words_at_left(maps.queries, cell);
  const Words below = words_below(maps.keys, cell);
  const double width = std::max(static_cast<double>(maps.weights.size(2)) * cell,
                                text_width("Head 00", kPanelTitleSize, true));
  const double height = static_cast<double>(maps.weights.size(1)) * cell;
  const double pitch = std::max(width + kAcross, below.angle == -45 ? below.overhang : 0);
  const std::int64_t columns = grid_columns(heads, pitch);
  const std::int64_t lines = (heads + columns - 1) / columns;

  Drawing drawing;
  const double left = kMargin + std::max(at_left.room + kTickGap, below.overhang);
  const double bar_left = left + static_cast<double>(columns) * pitch - kAcross + 18;
  const double bar_height = std::max(kShortestBar, std::min(height, 300.0));
  const double right =
      std::max(bar_left + color_bar_width(scale, "Weight", !extent.all_finite, bar_height),
               left + title_width(maps.title));
  // One pixel more: the title's own width must not be lost to rounding.
  const double top = draw_title(drawing, maps.title, left, kMargin, right - left + 1);
  for (std::int64_t head = 0; head < heads; ++head) {
    const double x = left + static_cast<double>(head % columns) * pitch;
    const double y =
        top + kTitleRoom + static_cast<double>(head / columns) * (height + kTitleRoom + kDown);
    drawing.text(x, y - 11, "Head " + std::to_string(head),
                 {.size = kPanelTitleSize, .bold = true});
    draw_cells(drawing, maps.weights.select(0, head), scale, x, y, at_left, below, false);
    if (head % columns == 0) draw_words_at_left(drawing, at_left, x - kTickGap, y);
    if (head + columns >= heads) draw_words_below(drawing, below, x, y + height + kTickGap);
  }
  draw_color_bar(drawing, scale, "Weight", !extent.all_finite, bar_left, top + kTitleRoom,
                 bar_height);
  const double bottom = top + static_cast<double>(lines) * (height + kTitleRoom + kDown) - kDown +
                        kTickGap + below.room;
  return drawing.finish(right + kMargin,
                        std::max(bottom, top + kTitleRoom + bar_height + 30) + kMargin, maps.title);
}

}  // namespace sextant
