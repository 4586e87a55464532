// Text from files and arguments, made safe for a message: one line, short, no terminal control
// sequences.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant {

// UTF-8 of at most `max_bytes` bytes, which count as 16 when fewer. Control characters, line and
// paragraph separators, zero-width characters and those that change the direction of writing become
// "\n", "\x1b" or
// "\u202e"; bytes that are not UTF-8 become "\xff". Of a longer text the beginning and the end are
// kept, with "..." between. Printable text comes back as it is.
std::string printable(std::string_view text, std::size_t max_bytes = 1000);

// The same in single quotes, about 40 bytes of it.
std::string printable_quote(std::string_view text);

}  // namespace sextant
