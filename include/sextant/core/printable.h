// Makes text from files and arguments safe for a message: one line, short, without terminal control
// sequences.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant {

// Returns UTF-8 of at most `max_bytes` bytes (at least 16). Control characters, line and paragraph
// separators, zero-width characters and those that change the direction of writing become "\n",
// "\x1b" or "\u202e"; bytes that are not UTF-8 become "\xff". A longer text keeps its beginning and
// end, with "..." between. Printable text is unchanged.
std::string printable(std::string_view text, std::size_t max_bytes = 1000);

// Returns the whole text for a terminal. Line breaks, tabs and the joiners of scripts and emoji
// stay; other control characters, marks that change the direction of writing, and bytes that are
// not UTF-8 become escapes as in printable(). A text without them is unchanged.
std::string terminal_text(std::string_view text);

// Returns the beginning of printable() in single quotes, about `max_bytes` bytes, with "..." where
// more follows.
std::string printable_quote(std::string_view text, std::size_t max_bytes = 40);

}  // namespace sextant
