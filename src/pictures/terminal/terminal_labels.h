// Arranges labels of a matrix drawn with characters: the width of its cells, and the texts next to
// its rows and above its columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::pictures {

std::string spaces(int count);  // none for a negative count

struct TerminalGrid {
  std::vector<std::string> rows;  // each `label` cells wide; none without labels
  int label = 0;                  // terminal cells left of the matrix, a gap included
  int cell = 2;                   // terminal cells per column
  std::string header;             // lines above the matrix
  std::string key;                // lines that explain the numbers of columns
};

// Throws Error, naming terminal_map.width, where `columns` do not fit, with one cell each.
TerminalGrid terminal_grid(const std::vector<std::string>& row_labels,
                           const std::vector<std::string>& column_labels, std::int64_t columns,
                           std::int64_t width);

}  // namespace sextant::pictures
