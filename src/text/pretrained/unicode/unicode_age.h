// Since which version of Unicode a character is there, for tables that were made with an older one.
#pragma once

namespace sextant::text {

// Whether version 8, 9 or 11 of Unicode has the character. Known for punctuation, marks, controls,
// characters of private use and those that have a decomposition, up to Unicode 17; other characters
// may get either answer.
bool is_of_unicode(char32_t c, int version);

}  // namespace sextant::text
