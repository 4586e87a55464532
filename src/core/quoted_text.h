// Untrusted text inside an error message.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

// In quotes, at most 40 bytes of it, with ? for whatever a terminal might act on or not show.
inline std::string quoted_text(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > 40 ? "...'" : "'");
}

}  // namespace sextant
