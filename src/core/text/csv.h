// Cells of comma-separated values (RFC 4180).
#pragma once

#include <string>

namespace sextant {

// Returns a text as one cell: in quotes where it has a comma, a quote or the end of a line.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

}  // namespace sextant
