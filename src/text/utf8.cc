// What needs no tables of Unicode: valid UTF-8, and its white space.
#include <algorithm>
#include <iterator>

#include "core/utf8.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

// Unicode White_Space; the list has not changed since version 6.3.
bool is_white_space(std::uint32_t code) {
  constexpr std::uint32_t kOthers[] = {0x20,   0x85,   0xA0,   0x1680, 0x2028,
                                       0x2029, 0x202F, 0x205F, 0x3000};
  return (code >= '\t' && code <= '\r') || (code >= 0x2000 && code <= 0x200A) ||
         std::ranges::find(kOthers, code) != std::end(kOthers);
}

}  // namespace

void check_utf8(std::string_view text, std::string_view where) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = first_character(text.substr(at));
    if (!c.valid) {
      constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[at]);
      const std::string shown = {kHex[byte / 16], kHex[byte % 16]};
      throw Error(where, "must be UTF-8, got byte 0x" + shown + " at offset " + std::to_string(at));
    }
    at += c.bytes;
  }
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

}  // namespace sextant
