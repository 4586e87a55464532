// Bytes as visible characters, as GPT-2's vocabulary writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/pretrained/aligned_text.h"

namespace sextant::text {

char32_t byte_character(unsigned char byte);
// Returns the bytes of these characters; nothing if one of them is no byte.
std::optional<std::string> bytes_of(std::string_view characters);

// Appends the characters of bytes [begin, end) of `from`.
void append_byte_level(AlignedText& to, const AlignedText& from, std::size_t begin,
                       std::size_t end);

}  // namespace sextant::text
