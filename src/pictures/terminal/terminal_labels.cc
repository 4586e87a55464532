// Labels of a matrix that is drawn with characters.
#include "pictures/terminal/terminal_labels.h"

#include <algorithm>

#include "pictures/text.h"
#include "sextant/core/error.h"

namespace sextant::pictures {
namespace {

// Terminal cells of a row's label: at most, while columns still have two cells each, and where
// every cell counts.
constexpr int kLongest = 18, kShort = 10, kLeast = 6;
constexpr int kMaxCell = 9;  // terminal cells of a column with a horizontal label

// At most `cells` wide, with an ellipsis when cut.
std::string clip(std::string_view text, int cells) {
  if (terminal_cells(text) <= cells) return std::string(text);
  std::u32string kept;
  for (const char32_t c : decode(text)) {
    kept += c;
    if (terminal_cells(kept) < cells) continue;
    if (terminal_cells(kept) > cells - 1) kept.pop_back();
    break;
  }
  return encode(kept) + "…";
}

std::string centered(std::string_view text, int cells) {
  const int left = (cells - terminal_cells(text)) / 2;
  return spaces(left) + std::string(text) + spaces(cells - left - terminal_cells(text));
}

std::vector<std::string> readable(const std::vector<std::string>& labels) {
  std::vector<std::string> shown;
  for (const std::string& label : labels) shown.push_back(token_label(label));
  return shown;
}

int widest(const std::vector<std::string>& labels) {
  int cells = 0;
  for (const std::string& label : labels) cells = std::max(cells, terminal_cells(label));
  return cells;
}

bool are_numbers(const std::vector<std::string>& labels) {
  return std::ranges::all_of(labels, [](const std::string& label) {
    return label.find_first_not_of("-0123456789") == std::string::npos;
  });
}

// Beside rows, if columns are `cell` cells wide.
int row_cells(std::int64_t columns, std::int64_t width, int cell) {
  return static_cast<int>(std::min<std::int64_t>(kLongest, width - columns * cell - 1));
}

void set_rows(TerminalGrid& grid, const std::vector<std::string>& labels, std::int64_t columns,
              std::int64_t width) {
  const int wanted = std::min(kLongest, widest(labels));
  const auto room = [&](int cell) {
    return labels.empty() ? width - columns * cell : row_cells(columns, width, cell);
  };
  if (room(2) < std::min(wanted, kShort)) grid.cell = 1;
  const std::int64_t most = width - (labels.empty() ? 0 : std::min(wanted, kLeast) + 1);
  if (columns > most) {
    throw Error("terminal_map.width", "must hold the labels and one cell per column: " +
                                          std::to_string(std::max<std::int64_t>(0, most)) +
                                          " columns fit into " + std::to_string(width) +
                                          " cells, got " + std::to_string(columns));
  }
  if (labels.empty()) return;
  const int cells = std::min<int>(wanted, static_cast<int>(room(grid.cell)));
  for (const std::string& label : labels) {
    const std::string shown = clip(label, cells);
    grid.rows.push_back(spaces(cells - terminal_cells(shown)) + shown + " ");
  }
  grid.label = cells + 1;
}

// ASCII labels, one character below the other, ending at the matrix.
std::string downwards(const TerminalGrid& grid, const std::vector<std::string>& labels) {
  std::size_t height = 0;
  for (const std::string& label : labels) height = std::max(height, label.size());
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    text += spaces(grid.label);
    for (const std::string& label : labels) {
      const std::size_t empty = height - label.size();
      text += centered(line < empty ? " " : std::string(1, label[line - empty]), grid.cell);
    }
    text += "\n";
  }
  return text;
}

// "columns: 0 The  1 black  2 cat", in as many lines as needed.
std::string key_of(const std::vector<std::string>& labels, std::int64_t width) {
  std::string text, line = "columns:";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::string entry = std::to_string(i) + " ";
    entry += clip(labels[i], static_cast<int>(width) - static_cast<int>(entry.size()));
    const std::string gap = i == 0 ? " " : "  ";
    if (terminal_cells(line) + terminal_cells(gap + entry) > width) {
      text += line + "\n";
      line = entry;
    } else {
      line += gap + entry;
    }
  }
  return text + line + "\n";
}

void set_columns(TerminalGrid& grid, std::vector<std::string> labels, std::int64_t width) {
  if (labels.empty()) return;
  const std::int64_t room = width - grid.label;
  const auto stand_level = [&] {
    const int cell = widest(labels) + 1;
    if (cell > kMaxCell || cell * static_cast<std::int64_t>(labels.size()) > room) return false;
    grid.cell = std::max(grid.cell, cell);
    return true;
  };
  bool level = stand_level();
  if (!level && !are_numbers(labels)) {
    grid.key = key_of(labels, width);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = std::to_string(i);
    level = stand_level();
  }
  if (!level) {
    grid.header = downwards(grid, labels);
    return;
  }
  grid.header = spaces(grid.label);
  for (const std::string& label : labels) grid.header += centered(label, grid.cell);
  grid.header += "\n";
}

}  // namespace

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

TerminalGrid terminal_grid(const std::vector<std::string>& row_labels,
                           const std::vector<std::string>& column_labels, std::int64_t columns,
                           std::int64_t width) {
  TerminalGrid grid;
  set_rows(grid, readable(row_labels), columns, width);
  set_columns(grid, readable(column_labels), width);
  return grid;
}

}  // namespace sextant::pictures
