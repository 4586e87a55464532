// Makes any bytes printable: an error message must not flood or steer a terminal.
#include "text/quote.h"

#include <vector>

#include "core/text/utf8.h"
#include "sextant/core/printable.h"

namespace sextant::text {

std::string in_quotes(std::string_view text) {
  constexpr int kMax = 40;
  std::vector<std::string> shown;
  while (!text.empty() && shown.size() <= kMax) {
    const Utf8Character c = first_character(text);
    const std::string_view bytes = text.substr(0, c.bytes);
    shown.emplace_back(c.valid && printable(bytes) == bytes ? bytes : "?");
    text.remove_prefix(c.bytes);
  }
  if (shown.size() > kMax) shown.resize(kMax - 1), shown.emplace_back("\u2026");
  std::string quoted = "\"";
  for (const std::string& character : shown) quoted += character;
  return quoted + '"';
}

}  // namespace sextant::text
