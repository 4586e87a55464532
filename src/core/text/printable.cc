// One character at a time, as itself or as an escape.
#include "sextant/core/printable.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/text/character_names.h"
#include "core/text/utf8.h"

namespace sextant {
namespace {

constexpr std::string_view kCut = "...";

bool within(std::uint32_t code, std::uint32_t first, std::uint32_t last) {
  return code >= first && code <= last;
}

std::string hex(std::uint32_t code, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; code >>= 4) text[i] = "0123456789abcdef"[code & 15];
  return text;
}

std::string escape(std::uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x100 ? "\\x" + hex(code, 2) : "\\u" + hex(code, code < 0x10000 ? 4 : 6);
  }
}

// Returns whether a terminal would obey a character instead of showing it.
bool steers_terminal(std::uint32_t code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || within(code, 0x7f, 0x9f) || code == 0x61c || within(code, 0x200e, 0x200f) ||
         within(code, 0x2028, 0x2029) || turns_direction(code);
}

// Takes one character off the front of `text`.
std::string take(std::string_view& text, bool (*is_shown)(std::uint32_t) = is_printable) {
  const Utf8Character c = first_character(text);
  const std::string_view bytes = text.substr(0, c.bytes);
  text.remove_prefix(c.bytes);
  if (!c.valid) return "\\x" + hex(static_cast<unsigned char>(bytes[0]), 2);
  return is_shown(c.code) ? std::string(bytes) : escape(c.code);
}

}  // namespace

bool is_printable(std::uint32_t code) {
  if (code < 0x20 || within(code, 0x7f, 0x9f)) return false;  // controls
  return code != 0xad && code != 0x61c && !within(code, 0x200b, 0x200f) &&
         !within(code, 0x2028, 0x202e) && !within(code, 0x2060, 0x206f) && code != 0xfeff &&
         !within(code, 0xfff0, 0xfffb) && !within(code, 0xe0000, 0xe0fff) &&
         (code & 0xfffe) != 0xfffe;
}

std::string code_name(std::uint32_t code) {
  std::string digits = hex(code, code < 0x10000 ? 4 : code < 0x100000 ? 5 : 6);
  std::ranges::transform(digits, digits.begin(),
                         [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  return "U+" + digits;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  max_bytes = std::max<std::size_t>(max_bytes, 16);
  std::string shown;
  std::string_view rest = text;
  while (!rest.empty() && shown.size() <= max_bytes) shown += take(rest);
  if (rest.empty() && shown.size() <= max_bytes) return shown;

  const std::size_t end_room = max_bytes / 3;
  const std::size_t begin_room = max_bytes - end_room - kCut.size();
  shown.clear();
  rest = text;
  while (true) {
    std::string_view after = rest;
    const std::string piece = take(after);
    if (shown.size() + piece.size() > begin_room) break;
    shown += piece;
    rest = after;
  }
  // The end, begun between two characters: not at a byte that continues one.
  std::size_t begin = std::max(text.size() - std::min(text.size(), end_room),
                               static_cast<std::size_t>(rest.data() - text.data()));
  for (int i = 0; i < 3 && begin < text.size(); ++i, ++begin) {
    if (!continues_character(text[begin])) break;
  }
  std::vector<std::string> pieces;
  for (rest = text.substr(begin); !rest.empty();) pieces.push_back(take(rest));
  std::size_t kept = pieces.size();
  for (std::size_t room = end_room; kept > 0 && pieces[kept - 1].size() <= room; --kept) {
    room -= pieces[kept - 1].size();
  }
  shown += kCut;
  for (; kept < pieces.size(); ++kept) shown += pieces[kept];
  return shown;
}

std::string terminal_text(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    shown += take(text, [](std::uint32_t code) { return !steers_terminal(code); });
  }
  return shown;
}

std::string printable_quote(std::string_view text, std::size_t max_bytes) {
  std::string shown = "'";
  while (!text.empty() && shown.size() <= max_bytes) shown += take(text);
  return shown + (text.empty() ? "'" : "...'");
}

}  // namespace sextant
