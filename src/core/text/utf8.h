// UTF-8, one character at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sextant {

// Whether a byte is inside a character, not its first.
constexpr bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// The character that a text begins with, or one byte that begins none.
struct Utf8Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool valid = false;
};
// `text` is not empty.
constexpr Utf8Character first_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr std::uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};  // shorter forms must be used
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues_character(text[i])) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kFirst[bytes] || code > 0x10ffff || surrogate) return {};
  return {bytes, code, true};
}

// Where the first byte is that is part of no character, or npos.
constexpr std::size_t find_invalid_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = first_character(text.substr(at));
    if (!c.valid) return at;
    at += c.bytes;
  }
  return std::string_view::npos;
}

// Counts the characters of valid UTF-8.
inline std::int64_t count_characters(std::string_view text) noexcept {
  return static_cast<std::int64_t>(text.size()) -
         std::count_if(text.begin(), text.end(), continues_character);
}

}  // namespace sextant
