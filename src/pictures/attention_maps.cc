// Attention maps in a grid: words at the outer sides only, one colour bar. One alone is large.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "pictures/words.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr double kTitleRoom = 20, kAcross = 16, kDown = 12;
constexpr std::int64_t kNumbers = 12;  // rows and columns up to which weights are written out

// CSS pixels of a cell of the only map: large for a few words, labels readable up to two hundred.
double large_cell(std::int64_t words) {
  const double n = static_cast<double>(words);
  return words <= 200 ? std::clamp(std::round(560 / n), 11.0, 52.0) : 2200 / n;
}

// Of one of several: long sentences get panels as wide as a page, with room for a word per row.
double small_cell(std::int64_t words) {
  constexpr std::int64_t kLong = 30;
  const double n = static_cast<double>(words);
  if (words > 64) return 832 / n;
  return words > kLong ? 13 : std::clamp(std::round(200 / n), 10.0, 40.0);
}

// How many maps stand side by side: as many as a page has room for, or up to three in a square.
std::int64_t maps_across(std::int64_t heads, double pitch) {
  const auto fit = static_cast<std::int64_t>(1000 / pitch);
  const auto square = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(heads))));
  return grid_columns(heads, std::max(fit, std::min<std::int64_t>(square, 3)));
}

// Names of the axes, of one map only: short words, which may be longer than the side of a tiny map.
void draw_axis_names(Drawing& drawing, const AttentionMaps& maps, const Panel& panel,
                     const Words& queries, double keys_at) {
  drawing.text(panel.left + panel.width / 2, keys_at + kAxisRoom / 2, maps.column_name,
               {.size = kLabelSize, .anchor = Anchor::middle, .color = kMuted});
  drawing.text(panel.left - kTickGap - queries.room - kAxisRoom / 2 - 2,
               panel.top + panel.height / 2, maps.row_name,
               {.size = kLabelSize, .anchor = Anchor::middle, .color = kMuted, .angle = -90});
}

}  // namespace

Picture draw(const AttentionMaps& maps) {
  const View<const double> weights =
      check_words("attention_maps", maps.weights, maps.queries, maps.keys);
  const std::int64_t heads = weights.size(0), rows = weights.size(1), columns = weights.size(2);
  const bool single = heads == 1;
  const Extent extent = extent_of(weights);
  const Scale scale = weight_scale(extent, maps.high, maps.map, "attention_maps");
  const std::vector<std::string> gaps = gaps_of(extent, scale);
  const std::int64_t words = std::max(rows, columns);
  const double cell = single ? large_cell(words) : small_cell(words);
  const Words at_left = words_at_left(maps.queries, cell);
  const Words below = words_below(maps.keys, cell);
  Panel panel{.width = static_cast<double>(columns) * cell,
              .height = static_cast<double>(rows) * cell};
  double pitch = panel.width + kAcross;
  if (!single) {
    pitch = std::max({pitch, text_width("Head 00", kPanelTitleSize, true) + kAcross,
                      below.angle == -45 ? below.overhang : 0});
  }
  const std::int64_t across = maps_across(heads, pitch);

  Drawing drawing;
  // Room at the left for the queries, with the name of their axis, or for slanted keys.
  const double left =
      kMargin + std::max((single ? kAxisRoom : 0) + at_left.room + kTickGap, below.overhang);
  const double bar_left = left + static_cast<double>(across) * pitch - kAcross + 18;
  const double bar_height = std::max(kShortestBar, std::min(panel.height, 300.0));
  const double bar_width = color_bar_width(scale, "Weight", gaps, bar_height);
  const double right = std::max(bar_left + bar_width, left + title_width(maps.title));
  // One pixel more: the title's own width must not be lost to rounding.
  const double top =
      draw_title(drawing, maps.title, left, kMargin, right - left + 1) + (single ? 0 : kTitleRoom);
  for (std::int64_t head = 0; head < heads; ++head) {
    panel.left = left + static_cast<double>(head % across) * pitch;
    panel.top = top + static_cast<double>(head / across) * (panel.height + kTitleRoom + kDown);
    if (!single) {
      drawing.text(panel.left, panel.top - 11, "Head " + std::to_string(head),
                   {.size = kPanelTitleSize, .bold = true});
    }
    draw_cells(drawing, panel, head, weights.select(0, head), scale, at_left, below,
               single && words <= kNumbers);
    if (head % across == 0) {
      draw_words_at_left(drawing, at_left, panel.left - kTickGap, panel.top);
    }
    if (head + across >= heads) {
      draw_words_below(drawing, below, panel.left, panel.bottom() + kTickGap);
    }
  }
  draw_color_bar(drawing, scale, "Weight", gaps, bar_left, top, bar_height);
  double bottom = panel.bottom() + kTickGap + below.room + 8;
  if (single) {
    draw_axis_names(drawing, maps, panel, at_left, bottom - 2);
    bottom += kAxisRoom - 2;
  }
  const double more_gaps = gaps.size() < 2 ? 0 : kGapPitch;
  bottom = std::max(bottom, top + bar_height + (single ? 30 : 38) + more_gaps);
  return drawing.finish(right + kMargin, bottom + kMargin - 8, maps.title);
}

}  // namespace sextant
