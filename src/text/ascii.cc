// The rules of libraries/word_rules.h for the 128 characters of ASCII.
#include "text/ascii.h"

#include <algorithm>

namespace sextant::text {
namespace {

// Word_Break properties, as far as ASCII has them.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '@'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool joins_both(char c) { return c == '.' || c == '\''; }
bool joins_digits(char c) { return joins_both(c) || c == ',' || c == ';'; }
bool is_of_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool shows_nothing(char c) { return c <= ' ' || c == 0x7f; }

// Returns the end of the part of a word that begins at `at`: letters, digits and low lines, and
// marks between two letters or two digits (rules WB5 to WB13b).
std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (++at < text.size()) {
    if (is_of_word(text[at])) continue;
    if (at + 1 == text.size()) break;
    const char before = text[at - 1], mark = text[at], after = text[at + 1];
    const bool joined = (joins_both(mark) && is_letter(before) && is_letter(after)) ||
                        (joins_digits(mark) && is_digit(before) && is_digit(after));
    if (!joined) break;
  }
  return at;
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::vector<std::string> ascii_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = is_of_word(text[at]) ? end_of_word(text, at) : at + 1;
    if (!shows_nothing(text[at])) words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::int64_t ascii_length(std::string_view text) {
  std::int64_t length = std::ssize(text);
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == '\r' && text[at + 1] == '\n') --length;  // one character
  }
  return length;
}

}  // namespace sextant::text
