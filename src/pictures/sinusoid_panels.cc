// Chosen columns of a position table, one panel each, with the words of a sentence on the curves.
#include <algorithm>
#include <cmath>

#include "pictures/small_multiples.h"
#include "pictures/text.h"
#include "pictures/traces.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

// Words do not fit beside neighbouring points, numbers do: a disc carries its position, which the x
// axis counts too, and the one legend says the word.
constexpr double kDisc = 6.6;               // radius
constexpr double kSpacing = 2 * kDisc + 1;  // between neighbours
constexpr double kWidest = 2400;  // of a panel; beyond it only every n-th disc has a number

void check(const SinusoidPanels& panels) {
  const auto& table = panels.table;
  if (table.rank() != 2 || table.count() == 0) {
    throw Error("sinusoid_panels.table",
                "must be [length, width] and not empty, got " + table.shape().to_string());
  }
  if (panels.columns.empty()) throw Error("sinusoid_panels.columns", "must not be empty");
  for (const std::int64_t column : panels.columns) {
    if (column < 0 || column >= table.size(1)) {
      throw Error("sinusoid_panels.columns", "must be in 0 .. " +
                                                 std::to_string(table.size(1) - 1) + ", got " +
                                                 std::to_string(column));
    }
  }
  if (static_cast<std::int64_t>(panels.words.size()) > table.size(0)) {
    throw Error("sinusoid_panels.words", "must be at most as many as the table has rows (" +
                                             std::to_string(table.size(0)) + "), got " +
                                             std::to_string(panels.words.size()));
  }
  if (!panels.titles.empty() && panels.titles.size() != panels.columns.size()) {
    throw Error("sinusoid_panels.titles", "must be empty or one per column (" +
                                              std::to_string(panels.columns.size()) + "), got " +
                                              std::to_string(panels.titles.size()));
  }
}

std::string default_title(std::int64_t column) {
  return (column % 2 == 0 ? "Sine " : "Cosine ") + std::to_string(column / 2);
}

// A disc with a number, or a small dot without one.
void draw_disc(Drawing& drawing, double x, double y, std::size_t position, bool numbered,
               std::string_view tooltip) {
  if (!numbered) {
    drawing.circle(x, y, 2.4, series_color(0), tooltip);
    return;
  }
  drawing.circle(x, y, kDisc + 0.8, "#fff");
  drawing.circle(x, y, kDisc, series_color(0), tooltip);
  const std::string digits = std::to_string(position);
  // Three digits or more have to be set smaller to stay on the disc.
  const double size = std::min(8.6, 2 * kDisc * 0.94 / text_width(digits, 1, true));
  drawing.text(x, y, digits,
               {.size = size, .anchor = Anchor::middle, .color = "#fff", .bold = true});
}

}  // namespace

Picture draw(const SinusoidPanels& panels) {
  check(panels);
  const auto length = static_cast<std::size_t>(panels.table.size(0));
  const std::size_t words = panels.words.size();

  SmallMultiples grid;
  Bounds y;
  for (std::size_t i = 0; i < panels.columns.size(); ++i) {
    grid.titles.push_back(panels.titles.empty() ? default_title(panels.columns[i])
                                                : panels.titles[i]);
    for (std::size_t k = 0; k < length; ++k) {
      const double value = panels.table(k, panels.columns[i]);
      if (std::isfinite(value)) y.add(value);
    }
  }
  if (y.empty()) throw Error("sinusoid_panels.table", "must have a finite number in the columns");
  grid.x = range_of(0, static_cast<double>(length - 1), words == 0 ? 0 : 0.02);
  grid.y = range_of(y.low, y.high, 0.08);
  grid.x_label = "Index (k)";
  grid.panel_height = 170;

  const double wanted = words == 0 ? 0 : static_cast<double>(length - 1) * kSpacing * 1.04;
  grid.panel_width = std::clamp(wanted, 300.0, kWidest);
  grid.columns = std::clamp<std::size_t>(static_cast<std::size_t>(1140 / (grid.panel_width + 26)),
                                         1, std::min<std::size_t>(3, panels.columns.size()));
  const double apart = grid.panel_width / (grid.x.high - grid.x.low);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(2 * kDisc / apart)));

  std::vector<double> at(length), values(length);
  for (std::size_t k = 0; k < length; ++k) at[k] = static_cast<double>(k);
  Drawing drawing;
  Extents extents =
      draw_small_multiples(drawing, grid, kMargin, [&](const Panel& panel, std::size_t i) {
        for (std::size_t k = 0; k < length; ++k) values[k] = panels.table(k, panels.columns[i]);
        draw_trace(drawing, panel, at, values, 0);
        for (std::size_t k = 0; k < words; ++k) {
          if (!std::isfinite(values[k])) continue;
          draw_disc(
              drawing, panel.across(at[k]), panel.down(values[k]), k, k % every == 0,
              std::to_string(k) + " " + token_label(panels.words[k]) + ": " + number(values[k]));
        }
      });
  std::vector<std::string> legend;
  for (const std::string& word : panels.words) legend.push_back(token_label(word));
  if (words > 0) {
    extents.bottom += 14;
    extents.bottom += draw_legend(
        drawing, legend, extents.left, extents.bottom, extents.right - extents.left,
        [&](double cx, double cy, std::size_t k) { draw_disc(drawing, cx, cy, k, true, ""); });
  }
  return drawing.finish(extents.right + kMargin, extents.bottom + kMargin,
                        "Columns of the position table");
}

}  // namespace sextant
