// Maps bytes to characters: printable ones of Latin-1 to themselves, the others to U+0100 and on in
// order.
#include "text/pretrained/byte_level.h"

#include <array>
#include <vector>

namespace sextant::text {
namespace {

constexpr bool is_shown(unsigned c) {
  return (c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff);
}

constexpr std::array<char32_t, 256> kCharacters = [] {
  std::array<char32_t, 256> all{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) all[byte] = is_shown(byte) ? byte : next++;
  return all;
}();

constexpr std::array<int, 0x144> kBytes = [] {
  std::array<int, 0x144> all{};
  all.fill(-1);
  for (unsigned byte = 0; byte < 256; ++byte) all[kCharacters[byte]] = static_cast<int>(byte);
  return all;
}();

}  // namespace

char32_t byte_character(unsigned char byte) { return kCharacters[byte]; }

std::optional<std::string> bytes_of(std::string_view characters) {
  std::string bytes;
  for (std::size_t at = 0; at < characters.size();) {
    const char32_t c = next_character(characters, at);
    if (c >= kBytes.size() || kBytes[c] < 0) return std::nullopt;
    bytes += static_cast<char>(kBytes[c]);
  }
  return bytes;
}

void append_byte_level(AlignedText& to, const AlignedText& from, std::size_t begin,
                       std::size_t end) {
  std::string character;
  for (std::size_t at = begin; at < end; ++at) {
    character.clear();
    append_utf8(character, byte_character(static_cast<unsigned char>(from.text()[at])));
    to.append(character, from.origin()[at]);
  }
}

}  // namespace sextant::text
