// What tokenizers ask of Unicode: ICU answers (text/libraries), or the browser (text/browser).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::text {

enum class Property {
  alphabetic,
  mark,               // M
  nonspacing_mark,    // Mn
  punctuation,        // P
  number,             // N
  digit,              // Nd
  connector,          // Pc
  control_or_private  // Cc, Cf, Co
};
bool has_property(char32_t c, Property property);

// The whole decomposition of a character, of NFD or NFKD (`compatible`): the character itself where
// it has none.
std::u32string decomposition(char32_t c, bool compatible);
// The character that NFC makes of two, if it makes one.
std::optional<char32_t> composition(char32_t a, char32_t b);
// The order of marks behind a character: 0 for what is no mark, larger for larger values of
// Canonical_Combining_Class, at most 255.
int combining_order(char32_t c);

// One character for one: a final sigma becomes the common one. Not for U+0130, which becomes two.
char32_t lower(char32_t c);

// The bytes at which the visible characters (grapheme clusters) of valid UTF-8 end.
std::vector<std::size_t> visible_character_ends(std::string_view text);

}  // namespace sextant::text
