// Text into sentences and words by the rules of Unicode (UAX #29, through ICU), and lower case for
// every script.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// All functions take and give UTF-8 (at most 2^31 - 1 bytes) and throw Error for bytes that are
// not: overlong forms, surrogates, code points above U+10FFFF, cut sequences. The error names
// `where` and the offset of the first byte that is part of no character. None depends on the
// process's locale.
void check_utf8(std::string_view text, std::string_view where);

// Full lower-casing (SpecialCasing.txt) without a language's own rules: a final sigma is one, the
// Turkish dotless i is not guessed.
std::string lower_case(std::string_view text);

// The sentences of a text, white space at their ends trimmed, line breaks read as spaces. English
// abbreviations ("Mr.", "etc.") end no sentence.
std::vector<std::string> split_sentences(std::string_view text);

// Words, numbers, emoji and punctuation marks, each a token of its own; white space and control
// characters are none. "Don't stop." -> Don't | stop | .
// The rules (UAX #29, with @ as a letter) are ours; classes of characters and the dictionaries of
// Chinese, Japanese, Thai, Lao, Khmer and Burmese are those of the installed ICU.
std::vector<std::string> split_words(std::string_view text);

// Split at white space only (Unicode White_Space), as in "the zebra chased the lion .".
std::vector<std::string> split_spaces(std::string_view text);

// The visible characters (grapheme clusters): 1 for a letter with its accents, for a flag, for a
// family emoji.
std::int64_t visible_length(std::string_view text);

// The cells of a terminal that a text takes: 2 for a wide East Asian character or an emoji, 0 for
// what shows nothing, 1 for everything else.
std::int64_t display_width(std::string_view text);

// At most `length` >= 1 visible characters, with an ellipsis as the last one when something was
// cut. Throws Error for a smaller length.
std::string shorten(std::string_view text, std::int64_t length);

}  // namespace sextant
