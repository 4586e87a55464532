// Small matrices drawn with characters: colour blocks, or shades without colour.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/terminal/terminal_labels.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr std::string_view kShadeCells = " .:-=+*#%@";
constexpr char kHidden = '/', kNotFinite = '?';  // without colour
constexpr int kLegendSteps = 20;
constexpr std::string_view kReset = "\x1b[0m";

std::string block(const TerminalMap& map, const Scale& scale, double value, int cells) {
  if (!map.color) {
    const double place = scale.place(value);
    char shade = scale.is_hidden(value) ? kHidden : kNotFinite;
    if (!std::isnan(place)) {
      shade = kShadeCells[std::min(
          static_cast<std::size_t>(place * static_cast<double>(kShadeCells.size())),
          kShadeCells.size() - 1)];
    }
    return std::string(static_cast<std::size_t>(cells), shade);
  }
  const Rgb c = scale.color_of(value);
  return "\x1b[48;2;" + std::to_string(c.r) + ";" + std::to_string(c.g) + ";" +
         std::to_string(c.b) + "m" + spaces(cells);
}

Scale scale_of(const TerminalMap& map, const Extent& extent) {
  check_ends("terminal_map", map.low, std::nullopt);
  check_ends("terminal_map", std::nullopt, map.high);
  double low = map.low.value_or(extent.low), high = map.high.value_or(extent.high);
  if (map.map == ColorMap::diverging && !map.low && !map.high) {
    high = std::max(std::abs(low), std::abs(high));
    low = -high;
  }
  if (low > high) throw Error("terminal_map.low", "must be below high");
  if (high - low < kShortest) high = low + std::max(1.0, std::abs(low) * 0.1);
  return {.low = low, .high = high, .map = map.map, .hides = map.hides};
}

View<const double> check(const TerminalMap& map) {
  const View<const double> values = as_panels(map.values);
  if (values.rank() != 3 || values.count() == 0) {
    throw Error("terminal_map.values",
                "must be [rows, columns] or [panels, rows, columns] and not empty, got " +
                    values.shape().to_string());
  }
  const auto compare = [&](const char* name, const std::vector<std::string>& labels, int axis) {
    const auto count = static_cast<std::int64_t>(labels.size());
    if (count == values.size(axis)) return;
    if (count == 0 && (axis > 0 || values.size(0) == 1)) return;
    throw Error(name, "must be empty or " + std::to_string(values.size(axis)) + " labels, got " +
                          std::to_string(labels.size()));
  };
  compare("terminal_map.titles", map.titles, 0);
  compare("terminal_map.row_labels", map.row_labels, 1);
  compare("terminal_map.column_labels", map.column_labels, 2);
  return values;
}

// The colours from the smallest number to the largest, and the greys.
std::string legend(const TerminalMap& map, const Scale& scale, const Extent& extent, int indent) {
  const std::string end = map.color ? std::string(kReset) : "";
  std::string text = spaces(indent) + significant(scale.low, 3) + " ";
  for (int step = 0; step < kLegendSteps; ++step) {
    const double place = static_cast<double>(step) / (kLegendSteps - 1);
    text += block(map, scale, scale.low + place * (scale.high - scale.low), 1);
  }
  text += end + " " + significant(scale.high, 3) + "\n";
  for (const std::string& name : gaps_of(extent, scale)) {
    text += spaces(indent) + block(map, scale, name == "hidden" ? -HUGE_VAL : NAN, 2) + end + " " +
            name + "\n";
  }
  return text;
}

}  // namespace

std::string draw_terminal(const TerminalMap& map) {
  const View<const double> values = check(map);
  const TerminalGrid grid =
      terminal_grid(map.row_labels, map.column_labels, values.size(2), map.width);
  const Extent extent = extent_of(values);
  const Scale scale = scale_of(map, extent);
  std::string text;
  for (std::int64_t panel = 0; panel < values.size(0); ++panel) {
    if (panel > 0) text += "\n";
    if (!map.titles.empty()) text += printable(map.titles[static_cast<std::size_t>(panel)]) + "\n";
    text += grid.header;
    for (std::int64_t i = 0; i < values.size(1); ++i) {
      if (!grid.rows.empty()) text += grid.rows[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < values.size(2); ++j) {
        text += block(map, scale, values(panel, i, j), grid.cell);
      }
      if (map.color) text += kReset;
      text += "\n";
    }
  }
  text += legend(map, scale, extent, grid.label);
  if (!map.row_name.empty() && !map.column_name.empty()) {
    text += printable(map.row_name + " down, " + map.column_name + " across") + "\n";
  }
  return text + grid.key;
}

}  // namespace sextant
