// Classes of characters as the tokenizers library has them: its tables are of older versions of
// Unicode than ICU's, and ids depend on them.
#pragma once

namespace sextant::text {

bool is_space(char32_t c);        // White_Space
bool is_punctuation(char32_t c);  // of ASCII, and P of Unicode 8
bool is_mark(char32_t c);         // M of Unicode 9, which StripAccents removes
bool is_accent(char32_t c);       // Mn of Unicode 8, which BertNormalizer removes
bool is_removed(char32_t c);      // characters that its clean_text removes: Cc, Cf and Co, U+FFFD
bool is_ideograph(char32_t c);    // characters that its handle_chinese_chars separates
bool is_numeric(char32_t c);      // N
bool is_word(char32_t c);         // \w of Rust's regular expressions

}  // namespace sextant::text
