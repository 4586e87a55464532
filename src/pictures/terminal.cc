// A small matrix drawn with characters: colour blocks, or shades without colour.
#include <algorithm>
#include <cmath>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr std::string_view kShades = " .:-=+*#%@";
constexpr char kHidden = '/', kNotFinite = '?';  // without colour
constexpr int kLabelCells = 18;                  // of a row's label at most
constexpr int kMaxCell = 9;      // terminal cells of a column so that its label stands level
constexpr int kMaxUpright = 14;  // characters of a column's label that stands upright
constexpr int kLegendSteps = 20;
constexpr std::string_view kReset = "\x1b[0m";

// At most `cells` wide, with an ellipsis when cut.
std::string clip(std::string_view text, int cells) {
  if (terminal_cells(text) <= cells) return std::string(text);
  std::u32string kept;
  int used = 1;
  for (const char32_t c : decode(text)) {
    used += terminal_cells(c);
    if (used > cells) break;
    kept += c;
  }
  return encode(kept) + "…";
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

std::string pad_left(std::string_view text, int cells) {
  return spaces(cells - terminal_cells(text)) + std::string(text);
}

std::string centered(std::string_view text, int cells) {
  const int left = (cells - terminal_cells(text)) / 2;
  return spaces(left) + std::string(text) + spaces(cells - left - terminal_cells(text));
}

struct Grid {
  std::vector<std::string> rows, columns;  // labels, ready to print
  int label = 0;                           // terminal cells left of the matrix, gap included
  int cell = 2;                            // terminal cells per column
  bool upright = false;                    // column labels written downwards
};

std::string block(const TerminalMap& map, const Scale& scale, double value, int cells) {
  if (!map.color) {
    const double place = scale.place(value);
    char shade = scale.is_hidden(value) ? kHidden : kNotFinite;
    if (!std::isnan(place)) {
      shade =
          kShades[std::min(static_cast<std::size_t>(place * static_cast<double>(kShades.size())),
                           kShades.size() - 1)];
    }
    return std::string(static_cast<std::size_t>(cells), shade);
  }
  const Rgb c = scale.color_of(value);
  return "\x1b[48;2;" + std::to_string(c.r) + ";" + std::to_string(c.g) + ";" +
         std::to_string(c.b) + "m" + spaces(cells);
}

Grid arrange(const TerminalMap& map) {
  Grid grid;
  const std::int64_t columns = map.values.size(1);
  for (const std::string& word : map.row_labels) {
    grid.rows.push_back(clip(token_label(word), kLabelCells));
    grid.label = std::max(grid.label, terminal_cells(grid.rows.back()) + 1);
  }
  const std::int64_t room = map.width - grid.label;
  int longest = 0;
  for (const std::string& word : map.column_labels) {
    longest = std::max(longest, terminal_cells(token_label(word)) + 1);
  }
  grid.upright = longest > kMaxCell || longest * columns > room;
  if (!map.column_labels.empty() && !grid.upright) grid.cell = std::max(2, longest);
  if (grid.cell * columns > room) grid.cell = 1;
  if (columns > room) {
    throw Error("terminal_map.width", "must hold the labels and one cell per column: " +
                                          std::to_string(std::max<std::int64_t>(0, room)) +
                                          " columns fit into " + std::to_string(map.width) +
                                          " cells, got " + std::to_string(columns));
  }
  for (const std::string& word : map.column_labels) {
    grid.columns.push_back(clip(token_label(word), grid.upright ? kMaxUpright : grid.cell));
  }
  return grid;
}

std::string header(const Grid& grid) {
  std::string text;
  if (!grid.upright) {
    if (grid.columns.empty()) return "";
    text += spaces(grid.label);
    for (const std::string& word : grid.columns) text += centered(word, grid.cell);
    return text + "\n";
  }
  std::vector<std::u32string> words;
  std::size_t height = 0;
  for (const std::string& word : grid.columns) {
    words.push_back(decode(word));
    height = std::max(height, words.back().size());
  }
  for (std::size_t line = 0; line < height; ++line) {
    text += spaces(grid.label);
    for (const std::u32string& word : words) {
      // Words end at the matrix.
      const std::size_t empty = height - word.size();
      const std::u32string letter = line < empty || terminal_cells(word[line - empty]) > grid.cell
                                        ? U" "
                                        : std::u32string(1, word[line - empty]);
      text += centered(encode(letter), grid.cell);
    }
    text += "\n";
  }
  return text;
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

void check(const TerminalMap& map) {
  if (map.values.rank() != 2 || map.values.count() == 0) {
    throw Error("terminal_map.values",
                "must be [rows, columns] and not empty, got " + map.values.shape().to_string());
  }
  const auto compare = [&](const char* name, const std::vector<std::string>& labels, int axis) {
    if (labels.empty() || static_cast<std::int64_t>(labels.size()) == map.values.size(axis)) return;
    throw Error(name, "must be empty or " + std::to_string(map.values.size(axis)) +
                          " labels, got " + std::to_string(labels.size()));
  };
  compare("terminal_map.row_labels", map.row_labels, 0);
  compare("terminal_map.column_labels", map.column_labels, 1);
}

}  // namespace

std::string draw_terminal(const TerminalMap& map) {
  check(map);
  const Grid grid = arrange(map);
  const Extent extent = extent_of(map.values);
  const Scale scale = scale_of(map, extent);
  std::string text = header(grid);
  for (std::int64_t i = 0; i < map.values.size(0); ++i) {
    if (!grid.rows.empty()) text += pad_left(grid.rows[i], grid.label - 1) + " ";
    for (std::int64_t j = 0; j < map.values.size(1); ++j) {
      text += block(map, scale, map.values(i, j), grid.cell);
    }
    if (map.color) text += kReset;
    text += "\n";
  }
  text += spaces(grid.label) + significant(scale.low, 3) + " ";
  for (int step = 0; step < kLegendSteps; ++step) {
    const double place = static_cast<double>(step) / (kLegendSteps - 1);
    text += block(map, scale, scale.low + place * (scale.high - scale.low), 1);
  }
  if (map.color) text += kReset;
  text += " " + significant(scale.high, 3) + "\n";
  for (const std::string& name : gaps_of(extent, scale)) {
    text += spaces(grid.label) + block(map, scale, name == "hidden" ? -HUGE_VAL : NAN, 2);
    text += (map.color ? std::string(kReset) : "") + " " + name + "\n";
  }
  return text;
}

}  // namespace sextant
