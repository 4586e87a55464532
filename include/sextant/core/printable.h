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

// The whole text for a terminal: line breaks, tabs and the joiners of scripts and emoji stay, any
// other control character, marks that change the direction of writing, and bytes that are not UTF-8
// become escapes as in printable(). A text without them comes back as it is.
std::string terminal_text(std::string_view text);

// The same as printable() in single quotes, about 40 bytes of it.
std::string printable_quote(std::string_view text);

}  // namespace sextant
