// Which characters a reader sees, and names for the others.
#pragma once

#include <cstdint>
#include <string>

namespace sextant {

// Neither a control character, nor a line or paragraph separator, nor of no width, nor one that
// changes the direction of writing.
bool is_printable(std::uint32_t code);

// Joins its neighbours, and is part of how their scripts and emoji are written: zero-width joiner
// and non-joiner, and the tags of flags.
constexpr bool joins(std::uint32_t code) {
  return code == 0x200c || code == 0x200d || (code >= 0xe0020 && code <= 0xe007f);
}

// Begins, or ends, a run of another direction: the following text is turned too.
constexpr bool turns_direction(std::uint32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// "U+200B".
std::string code_name(std::uint32_t code);

}  // namespace sextant
