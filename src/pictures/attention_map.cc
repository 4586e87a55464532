// One attention map: words on both axes, weights as colours.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "pictures/words.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr std::int64_t kNumbers = 12;  // rows and columns up to which weights are written out

// CSS pixels of a cell: large for a few words, still readable labels up to two hundred.
double cell_size(std::int64_t words) {
  const double n = static_cast<double>(words);
  return words <= 200 ? std::clamp(std::round(560 / n), 11.0, 52.0) : 2200 / n;
}

std::string title_of(const AttentionMap& map) {
  if (!map.head) return map.title;
  const std::string head = "Head " + std::to_string(*map.head);
  return map.title.empty() ? head : map.title + " · " + head;
}

}  // namespace

Picture draw(const AttentionMap& map) {
  check_words("attention_map", map.weights, 2, map.queries, map.keys);
  const std::int64_t rows = map.weights.size(0), columns = map.weights.size(1);
  const Extent extent = extent_of(map.weights);
  const Scale scale = weight_scale(extent, map.high, "attention_map");
  const double cell = cell_size(std::max(rows, columns));
  const Words at_left = words_at_left(map.queries, cell);
  const Words below = words_below(map.keys, cell);
  const std::string title = title_of(map);

  Drawing drawing;
  Panel panel;
  panel.width = static_cast<double>(columns) * cell;
  panel.height = static_cast<double>(rows) * cell;
  const double bar_height = std::max(kShortestBar, std::min(panel.height, 300.0));
  // What hangs out to the left: the queries with their axis title, or slanted keys.
  panel.left = kMargin + std::max(kAxisRoom + at_left.room + kTickGap, below.overhang);
  const double bar_left = panel.right() + 18;
  const double bar_width = color_bar_width(scale, "Weight", !extent.all_finite, bar_height);
  const double right = std::max(bar_left + bar_width, panel.left + title_width(title));
  panel.top = draw_title(drawing, title, panel.left, kMargin, right - panel.left);

  draw_cells(drawing, map.weights, scale, panel.left, panel.top, at_left, below,
             std::max(rows, columns) <= kNumbers);
  draw_words_at_left(drawing, at_left, panel.left - kTickGap, panel.top);
  draw_words_below(drawing, below, panel.left, panel.bottom() + kTickGap);
  draw_color_bar(drawing, scale, "Weight", !extent.all_finite, bar_left, panel.top, bar_height);
  // Axis titles are short words: they may be longer than the side of a tiny map.
  const double keys_at = panel.bottom() + kTickGap + below.room + 6;
  drawing.text(panel.left + panel.width / 2, keys_at + kAxisRoom / 2, "Keys",
               {.size = kLabelSize, .anchor = Anchor::middle, .color = kMuted});
  drawing.text(panel.left - kTickGap - at_left.room - kAxisRoom / 2 - 2,
               panel.top + panel.height / 2, "Queries",
               {.size = kLabelSize, .anchor = Anchor::middle, .color = kMuted, .angle = -90});
  const double bottom = std::max(keys_at + kAxisRoom, panel.top + bar_height + 30);
  return drawing.finish(right + kMargin, bottom + kMargin - 8, title);
}

}  // namespace sextant
