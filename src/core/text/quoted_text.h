// Untrusted text inside an error message.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

// Returns at most the given number of bytes in quotes, with ? for characters that a terminal might
// act on or not show.
inline std::string quoted_text(std::string_view text, std::size_t max_bytes = 40) {
  std::string shown = "'";
  for (const char c : text.substr(0, max_bytes)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > max_bytes ? "...'" : "'");
}

}  // namespace sextant
