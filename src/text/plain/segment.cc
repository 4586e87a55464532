// Replaces ICU: words, characters and lower case of ASCII, and errors for other texts.
#include "sextant/text/segment.h"

#include <algorithm>

#include "sextant/core/error.h"
#include "text/ascii.h"
#include "text/without/missing.h"

namespace sextant {
namespace {

void check_ascii(std::string_view text, std::string_view where) {
  check_utf8(text, where);
  if (!text::is_ascii(text)) text::throw_missing(where, "ICU for letters that are not ASCII");
}

}  // namespace

std::string lower_case(std::string_view text) {
  check_ascii(text, "lower_case.text");
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string> split_sentences(std::string_view) {
  text::throw_missing("split_sentences.text", "ICU");
}

std::vector<std::string> split_words(std::string_view text) {
  check_ascii(text, "split_words.text");
  return text::ascii_words(text);
}

std::int64_t visible_length(std::string_view text) {
  check_ascii(text, "visible_length.text");
  return text::ascii_length(text);
}

std::string shorten(std::string_view text, std::int64_t length) {
  check_ascii(text, "shorten.text");
  if (length < 1) throw Error("shorten.length", "must be >= 1, got " + std::to_string(length));
  if (text::ascii_length(text) <= length) return std::string(text);
  std::size_t kept = 0;
  while (text::ascii_length(text.substr(0, kept + 1)) < length) ++kept;
  return std::string(text.substr(0, kept)) + "\u2026";
}

}  // namespace sextant
