// What ICU is for, without it: the lower case of ASCII, and errors.
#include "sextant/text/segment.h"

#include <algorithm>

#include "text/without/missing.h"

namespace sextant {

std::string lower_case(std::string_view text) {
  check_utf8(text, "lower_case.text");
  std::string lower(text);
  for (char& c : lower) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      text::throw_missing("lower_case.text", "ICU for letters that are not ASCII");
    }
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string> split_sentences(std::string_view) {
  text::throw_missing("split_sentences.text", "ICU");
}

std::vector<std::string> split_words(std::string_view) {
  text::throw_missing("split_words.text", "ICU");
}

std::int64_t visible_length(std::string_view) { text::throw_missing("visible_length.text", "ICU"); }

std::int64_t display_width(std::string_view) { text::throw_missing("display_width.text", "ICU"); }

std::string shorten(std::string_view, std::int64_t) { text::throw_missing("shorten.text", "ICU"); }

}  // namespace sextant
