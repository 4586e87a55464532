// Text into words and characters as tokenizers see them.
#include "text/tokenizer_parts.h"

#include <cstdint>
#include <utility>

#include "core/text/character_names.h"
#include "core/text/utf8.h"
#include "sextant/text/segment.h"
#include "sextant/text/tokenizer.h"

namespace sextant {
namespace {

// Calls visit(bytes, code point) for each character of valid UTF-8.
template <class Visit>
void for_each_code_point(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    visit(text.substr(0, c.bytes), c.code);
    text.remove_prefix(c.bytes);
  }
}

}  // namespace

namespace text {

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> found;
  found.reserve(text.size());
  for_each_code_point(text,
                      [&](std::string_view bytes, std::uint32_t) { found.emplace_back(bytes); });
  return found;
}

std::vector<std::string> words(std::string_view text, bool split_punctuation, bool keep_lines) {
  std::vector<std::string> found;
  for_each_line(text, [&](std::string_view line, bool is_first) {
    if (keep_lines && !is_first) found.emplace_back("\n");
    for (std::string& word : split_spaces(line)) {
      if (!split_punctuation) {
        found.push_back(std::move(word));
        continue;
      }
      for (std::string& part : split_words(word)) found.push_back(std::move(part));
    }
  });
  return found;
}

}  // namespace text

std::string token_label(std::string_view token) {
  check_utf8(token, "token_label.token");
  std::string label;
  for_each_code_point(token, [&](std::string_view bytes, std::uint32_t c) {
    if (c == ' ') {
      label += "\u2423";
    } else if (c == '\n') {
      label += "\u21B5";
    } else if (c < 0x20 || c == 0x7F) {
      label += "\xE2\x90";  // U+2400 + c, for 0x7F U+2421
      label += static_cast<char>(0x80 + (c == 0x7F ? 0x21 : c));
    } else if (is_printable(c) || (joins(c) && bytes.size() < token.size())) {
      label += bytes;
    } else {
      label += code_name(c);
    }
  });
  return label;
}

}  // namespace sextant
