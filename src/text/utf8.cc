// Implements functions that need no library: valid UTF-8, its white space, and its width in a
// terminal.
#include "core/text/utf8.h"
#include "core/text/terminal_cells.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"
#include "text/files/not_utf8.h"
#include "text/white_space.h"

namespace sextant {

void text::throw_not_utf8(std::string_view where, char byte, std::uint64_t offset) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  const std::string shown = {kHex[value / 16], kHex[value % 16]};
  throw Error(where, "must be UTF-8, got byte 0x" + shown + " at offset " + std::to_string(offset));
}

void check_utf8(std::string_view text, std::string_view where) {
  const std::size_t at = find_invalid_utf8(text);
  if (at != std::string_view::npos) text::throw_not_utf8(where, text[at], at);
}

std::vector<std::string> split_spaces(std::string_view text) {
  check_utf8(text, "split_spaces.text");
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = first_character(text.substr(at));
    if (is_white_space(c.code)) {
      if (at > begin) words.emplace_back(text.substr(begin, at - begin));
      begin = at + c.bytes;
    }
    at += c.bytes;
  }
  if (begin < text.size()) words.emplace_back(text.substr(begin));
  return words;
}

std::int64_t display_width(std::string_view text) {
  check_utf8(text, "display_width.text");
  return terminal_cells(text);
}

}  // namespace sextant
