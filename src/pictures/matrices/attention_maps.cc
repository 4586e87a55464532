// Attention maps in a grid: words at the outer sides only, one colour bar. One alone is large, and
// of many words the mean of the heads is, with the heads as thumbnails.
#include <algorithm>
#include <cmath>
#include <limits>

#include "pictures/chart_numbers.h"
#include "pictures/describe.h"
#include "pictures/layout.h"
#include "pictures/matrices/words.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr double kMapTitleRoom = 20, kMapsAcross = 16, kMapsDown = 12, kBarGap = 18;
constexpr std::int64_t kNumbers = 12;  // rows and columns up to which weights are written out
constexpr std::int64_t kMany = 20;     // tokens from which the mean of the heads is large
constexpr double kTallestMap = 800;
constexpr double kLeastCell = kSmallestWord * kLineHeight;  // has room for a word
constexpr double kThumbnail = 180;  // CSS pixels of one at most, and about two thirds at least

// The maps with words; the thumbnails of the heads are below their mean.
struct Maps {
  View<const double> weights;
  bool one_large = false;
  std::int64_t across = 1;
  double cell = 0, pitch = 0;
  Words at_left{}, below{};
  double left = 0, bar_left = 0;
  Panel panel{};
};

// Cells of a large map of a few words; of several maps side by side.
double natural_cell(const Maps& maps, std::int64_t words) {
  const double n = static_cast<double>(words);
  return maps.one_large ? std::clamp(std::round(560 / n), kLeastCell, 52.0)
                        : std::clamp(std::round(200 / n), kLeastCell, 40.0);
}

void set_cell(Maps& maps, const AttentionMaps& chart, double cell) {
  const double longest = std::min(kLongestWord, chart.max_width / 6);
  maps.cell = cell;
  maps.at_left = words_at_left(chart.queries, cell, longest);
  maps.below = words_below(chart.keys, cell, longest);
  maps.panel.width = static_cast<double>(chart.keys.size()) * cell;
  maps.panel.height = static_cast<double>(chart.queries.size()) * cell;
  maps.pitch = maps.panel.width + kMapsAcross;
  if (!maps.one_large) {
    maps.pitch = std::max({maps.pitch, text_width("Head 00", kPanelTitleSize, true) + kMapsAcross,
                           maps.below.angle == -45 ? maps.below.overhang : 0});
  }
  // Room at the left for the queries, with the name of their axis, or for slanted keys.
  maps.left = kMargin + std::max((maps.one_large ? kAxisRoom : 0) + maps.at_left.room + kTickGap,
                                 maps.below.overhang);
  maps.bar_left = maps.left + static_cast<double>(maps.across) * maps.pitch - kMapsAcross + kBarGap;
}

// As many maps side by side as fit with cells of nearly their natural size.
Maps arranged(const AttentionMaps& chart, View<const double> weights, double bar_width) {
  constexpr double kNearly = 0.85;
  constexpr double kLeastSide = 40;
  Maps maps{.weights = weights};
  const std::int64_t heads = weights.size(0), rows = weights.size(1), columns = weights.size(2);
  const std::int64_t words = std::max(rows, columns);
  maps.one_large = heads == 1 || words >= kMany;
  const double natural = natural_cell(maps, words);
  const auto excess = [&](std::int64_t across, double cell) {
    maps.across = across;
    set_cell(maps, chart, cell);
    return maps.bar_left + bar_width + kMargin - chart.max_width;
  };
  std::int64_t across = 1;
  if (!maps.one_large) {
    across = heads;
    const double least = std::max(kLeastCell, kNearly * natural);
    while (across > 1 && excess(across, least) > 0) --across;
    across = grid_columns(heads, across);
  }
  double cell = std::min(natural, kTallestMap / static_cast<double>(rows));
  // In steps, because narrower cells may turn the words.
  constexpr int kSteps = 8;
  for (int step = 0; step < kSteps; ++step) {
    const double over = excess(across, cell);
    if (over <= 0) break;
    const double side = maps.panel.width - over / static_cast<double>(across);
    cell = std::max(side, kLeastSide) / static_cast<double>(columns);
  }
  return maps;
}

// Names of the axes of a large map: short words, which may be longer than the side of a tiny map.
void draw_axis_names(Drawing& drawing, const AttentionMaps& chart, const Maps& maps,
                     double keys_at) {
  const Panel& panel = maps.panel;
  drawing.text(panel.left + panel.width / 2, keys_at + kAxisRoom / 2, chart.column_name,
               {.size = kLabelSize, .anchor = Anchor::middle, .color = kMuted});
  drawing.text(panel.left - kTickGap - maps.at_left.room - kAxisRoom / 2 - 2,
               panel.top + panel.height / 2, chart.row_name,
               {.size = kLabelSize, .anchor = Anchor::middle, .color = kMuted, .angle = -90});
}

void draw_name(Drawing& drawing, const Panel& panel, const std::string& name) {
  drawing.text(panel.left, panel.top - 11, name, {.size = kPanelTitleSize, .bold = true});
}

// The mean of the heads, [queries, keys]. A pair that some heads hide has no weight in those; one
// that all hide stays hidden.
Tensor<double> mean_of_heads(View<const double> weights) {
  const std::int64_t heads = weights.size(0);
  Tensor<double> mean({weights.size(1), weights.size(2)});
  for (std::int64_t i = 0; i < mean.size(0); ++i) {
    for (std::int64_t j = 0; j < mean.size(1); ++j) {
      std::int64_t hidden = 0;
      for (std::int64_t head = 0; head < heads; ++head) {
        const double weight = weights(head, i, j);
        const bool hides = weight == -std::numeric_limits<double>::infinity();
        hidden += hides ? 1 : 0;
        if (!hides) mean(i, j) += weight / static_cast<double>(heads);
      }
      if (hidden == heads) mean(i, j) = -std::numeric_limits<double>::infinity();
    }
  }
  return mean;
}

// The heads in a grid below their mean.
struct Thumbnails {
  std::int64_t count = 0, across = 1;
  double pitch = 0;
  Panel panel{};  // the first, its top unset
};

Thumbnails thumbnails_of(const Maps& maps, double right) {
  constexpr double kLeastSide = 4;
  const std::int64_t heads = maps.weights.size(0);
  Thumbnails small{.count = maps.one_large && heads > 1 ? heads : 0};
  if (small.count == 0) return small;
  const double room = right - maps.left + kMapsAcross;
  // Two side by side also where the picture is narrow.
  const double least = std::min(kThumbnail * 2 / 3 + kMapsAcross, room / 2);
  small.across = grid_columns(small.count, static_cast<std::int64_t>(room / least));
  small.pitch = std::min(kThumbnail + kMapsAcross, room / static_cast<double>(small.across));
  const double shrunk = (small.pitch - kMapsAcross) / std::max(maps.panel.width, maps.panel.height);
  small.panel = {.left = maps.left,
                 .width = std::max(kLeastSide, maps.panel.width * shrunk),
                 .height = std::max(kLeastSide, maps.panel.height * shrunk)};
  return small;
}

// Returns the y below them.
double draw_thumbnails(Drawing& drawing, const AttentionMaps& chart, const Maps& maps,
                       const Thumbnails& small, const Scale& scale, double top) {
  Panel panel = small.panel;
  for (std::int64_t i = 0; i < small.count; ++i) {
    panel.left = small.panel.left + static_cast<double>(i % small.across) * small.pitch;
    panel.top = top + kMapTitleRoom +
                static_cast<double>(i / small.across) * (panel.height + kMapTitleRoom + kMapsDown);
    draw_name(drawing, panel, head_name(chart.heads, i));
    draw_many_cells(drawing, panel, i, maps.weights.select(0, i), scale);
  }
  return small.count == 0 ? top : panel.bottom() + kMapsDown;
}

// "3 × 3 weights", or nothing where a pixel is one.
std::string block_text(const Maps& maps, const Panel& panel) {
  const std::int64_t rows = block_of(maps.weights.size(1), panel.height);
  const std::int64_t columns = block_of(maps.weights.size(2), panel.width);
  if (rows == 1 && columns == 1) return "";
  return std::to_string(rows) + " × " + std::to_string(columns) + " weights";
}

// Returns the meaning of a pixel, if it is not one weight.
std::string note_of(const Maps& maps, const Thumbnails& small) {
  const std::string large = block_text(maps, maps.panel);
  const std::string thumbnail = small.count == 0 ? "" : block_text(maps, small.panel);
  if (large.empty()) {
    return thumbnail.empty() ? "" : "Each pixel of a small map is the largest of " + thumbnail;
  }
  return "Each pixel is the largest of " + large +
         (thumbnail.empty() ? "" : ", of a small map of " + thumbnail);
}

}  // namespace

Picture draw(const AttentionMaps& chart) {
  const View<const double> weights =
      check_words("attention_maps", chart.weights, chart.queries, chart.keys, chart.heads);
  check_max_width("attention_maps", chart.max_width);
  const std::int64_t heads = weights.size(0);
  const Extent extent = extent_of(weights);
  const Scale scale = weight_scale(extent, chart.high, chart.map, "attention_maps");
  const std::vector<std::string> gaps = gaps_of(extent, scale);
  constexpr double kLongestBar = 300;
  const double bar_width = color_bar_width(scale, "Weight", gaps, kLongestBar);
  Maps maps = arranged(chart, weights, bar_width);
  const Thumbnails small = thumbnails_of(maps, maps.bar_left + bar_width);
  const std::string note = note_of(maps, small),
                    mean_name = "Mean of " + std::to_string(heads) + " heads";
  const Tensor<double> mean = small.count > 0 ? mean_of_heads(weights) : Tensor<double>();
  const double said = std::max(title_width(chart.title), text_width(note, kNoteSize));
  const double right =
      std::max(maps.bar_left + bar_width, std::min(maps.left + said, chart.max_width - kMargin));
  Panel& panel = maps.panel;

  Drawing drawing;
  // One pixel more: the title's own width must not be lost to rounding.
  const double width = right - maps.left + 1;
  double top = draw_title(drawing, chart.title, maps.left, kMargin, width);
  if (!note.empty()) {
    drawing.text(maps.left, top - 4, shorten(note, kNoteSize, width),
                 {.size = kNoteSize, .color = kMuted});
    top += 14;
  }
  if (heads > 1) top += kMapTitleRoom;
  for (std::int64_t head = 0; head < (maps.one_large ? 1 : heads); ++head) {
    panel.left = maps.left + static_cast<double>(head % maps.across) * maps.pitch;
    panel.top =
        top + static_cast<double>(head / maps.across) * (panel.height + kMapTitleRoom + kMapsDown);
    const std::string name = small.count > 0 ? mean_name : head_name(chart.heads, head);
    if (heads > 1) draw_name(drawing, panel, name);
    // The mean is no panel of the weights: its number is the one after theirs.
    draw_cells(drawing, panel, small.count > 0 ? heads : head,
               small.count > 0 ? View<const double>(mean.view()) : weights.select(0, head), scale,
               maps.at_left, maps.below,
               heads == 1 && std::max(weights.size(1), weights.size(2)) <= kNumbers);
    if (head % maps.across == 0) {
      draw_words_at_left(drawing, maps.at_left, panel.left - kTickGap, panel.top);
    }
    if (maps.one_large || head + maps.across >= heads) {
      draw_words_below(drawing, maps.below, panel.left, panel.bottom() + kTickGap);
    }
  }
  const double bar_height = std::max(kShortestBar, std::min(panel.height, kLongestBar));
  draw_color_bar(drawing, scale, "Weight", gaps, maps.bar_left, top, bar_height);
  double bottom = panel.bottom() + kTickGap + maps.below.room + 8;
  if (maps.one_large) {
    draw_axis_names(drawing, chart, maps, bottom - 2);
    bottom += kAxisRoom - 2;
  }
  const double more_gaps = gaps.size() < 2 ? 0 : kGapPitch;
  bottom = std::max(bottom, top + bar_height + (maps.one_large ? 30 : 38) + more_gaps);
  if (small.count > 0) bottom = draw_thumbnails(drawing, chart, maps, small, scale, bottom + 8);
  Picture picture =
      drawing.finish(right + kMargin, bottom + kMargin - 8, chart.title, describe(chart, weights));
  picture.numbers = numbers_of(chart, weights, scale);
  return picture;
}

}  // namespace sextant
