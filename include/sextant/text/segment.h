// Splits text into sentences and words by the rules of Unicode (UAX #29, through ICU), and converts
// every script to lower case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Throws Error unless the text is UTF-8. All functions take and return UTF-8 (at most 2^31 - 1
// bytes) and throw Error for overlong forms, surrogates, code points above U+10FFFF and cut
// sequences. The error has `where` and the offset of the first invalid byte. No function depends on
// the process's locale.
void check_utf8(std::string_view text, std::string_view where);

// Converts to lower case (SpecialCasing.txt) without the rules of a language: a final sigma is one,
// the Turkish dotless i is not guessed.
std::string lower_case(std::string_view text);

// Returns the sentences of a text without white space at their ends; line breaks count as spaces.
// English abbreviations ("Mr.", "etc.") end no sentence.
std::vector<std::string> split_sentences(std::string_view text);

// Splits into words, numbers, emoji and punctuation marks; white space and control characters are
// no tokens. "Don't stop." -> Don't | stop | . The rules (UAX #29, with @ as a letter) are ours;
// classes of characters and the dictionaries of Chinese, Japanese, Thai, Lao, Khmer and Burmese are
// those of the installed ICU.
std::vector<std::string> split_words(std::string_view text);

// Splits only at white space (Unicode White_Space), as in "the zebra chased the lion .".
std::vector<std::string> split_spaces(std::string_view text);

// Counts the visible characters (grapheme clusters): 1 for a letter with its accents, for a flag,
// for a family emoji.
std::int64_t visible_length(std::string_view text);

// Counts the terminal cells of a text: 2 for a wide East Asian character or an emoji, 0 for
// invisible characters, 1 for everything else.
std::int64_t display_width(std::string_view text);

// Returns at most `length` >= 1 visible characters; the last is an ellipsis if something was cut.
// Throws Error for a smaller length.
std::string shorten(std::string_view text, std::int64_t length);

}  // namespace sextant
