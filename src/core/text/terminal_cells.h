// How wide characters are in a terminal, by a table of our own: the same on every machine.
#pragma once

#include <string_view>

namespace sextant {

// A mark that combines with the character before it, or a format character: it takes no cell.
bool combines(char32_t c);
// An East Asian wide or full-width character, or an emoji: two cells.
bool is_wide(char32_t c);

// Cells a text takes: 0 for marks that combine and control characters, 2 for wide characters, flags
// and emoji that are joined into one, otherwise 1 per character or byte that is not UTF-8.
int terminal_cells(std::u32string_view text);
int terminal_cells(std::string_view utf8);

}  // namespace sextant
