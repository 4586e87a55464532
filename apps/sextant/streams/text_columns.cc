// Columns and bars of text for a terminal.
#include <algorithm>
#include <cmath>

#include "sextant/core/numbers.h"
#include "sextant/text/segment.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {

std::string bars_of(View<const double> table, const std::string& header) {
  double largest = 0;
  for (std::int64_t row = 0; row < table.size(0); ++row) {
    if (std::isfinite(table(row, 1))) largest = std::max(largest, std::abs(table(row, 1)));
  }
  constexpr std::int64_t kRoomForNumbers = 24;
  const auto longest =
      static_cast<double>(std::max<std::int64_t>(10, terminal_width() - kRoomForNumbers));
  const std::int64_t lines =
      std::clamp<std::int64_t>(terminal_height() - kLinesForText, 1, table.size(0));
  std::vector<std::vector<std::string>> rows;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t row = lines == 1 ? 0 : line * (table.size(0) - 1) / (lines - 1);
    // An infinity has the longest bar, NaN none.
    const double share = largest > 0 ? std::min(1.0, std::max(0.0, table(row, 1)) / largest) : 0;
    rows.push_back({shortest(table(row, 0)), fixed(table(row, 1), 6),
                    std::string(static_cast<std::size_t>(std::lround(share * longest)), '#')});
  }
  return header + "\n" + aligned(rows, false);
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, bool right) {
  std::vector<std::int64_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(static_cast<std::size_t>(widths[i] - display_width(row[i])), ' ');
      if (i > 0) line += "  ";
      line += right && i > 0 ? space + row[i] : row[i] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace sextant::app
