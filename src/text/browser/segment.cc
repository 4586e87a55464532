// Words, sentences, characters and lower case by the browser's own Unicode tables (Intl.Segmenter),
// for WebAssembly. ICU's list of English abbreviations is not there: "Mr." ends a sentence.
#include "sextant/text/segment.h"

#include <emscripten.h>

#include "sextant/core/error.h"
#include "text/ascii.h"
#include "text/browser/javascript.h"
#include "text/pretrained/unicode/unicode.h"

// The parts of a text, each as two numbers: bytes of UTF-8, and 1 for what shows nothing.
// clang-format off
EM_JS(int32_t*, sextant_parts, (const char* text, int bytes, const char* granularity), {
  const segmenter = new Intl.Segmenter("en", {granularity: UTF8ToString(granularity)});
  const slash = String.fromCharCode(92);
  const any_of = (names) => names.map((name) => slash + "p{" + name + "}").join("");
  const nothing = new RegExp("^[" + any_of(["White_Space", "Cc", "Cf"]) + "]*$", "u");
  const list = [];
  for (const part of segmenter.segment(sextant_text(text, bytes))) {
    const segment = part.segment;
    list.push(lengthBytesUTF8(segment), !part.isWordLike && nothing.test(segment) ? 1 : 0);
  }
  return sextant_list(list);
})
EM_JS(char*, sextant_lower, (const char* text, int bytes), {
  return sextant_copy(sextant_text(text, bytes).toLowerCase());
})
// clang-format on

namespace sextant {
namespace {

void check_text(std::string_view text, const char* where) {
  check_utf8(text, where);
  if (text.find('\0') != std::string_view::npos) {
    throw Error(where, "must not have a zero byte");  // where a returned text would end
  }
}

// Calls visit(part, shows_nothing) for every stretch between two boundaries.
template <class Visit>
void for_each_part(std::string_view text, const char* granularity, Visit visit) {
  const auto parts =
      text::taken_list(sextant_parts(text.data(), static_cast<int>(text.size()), granularity));
  std::size_t begin = 0;
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    const auto bytes = static_cast<std::size_t>(parts[i]);
    visit(text.substr(begin, bytes), parts[i + 1] == 1);
    begin += bytes;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

}  // namespace

std::string lower_case(std::string_view text) {
  check_text(text, "lower_case.text");
  if (text.empty()) return "";
  return text::taken_text(sextant_lower(text.data(), static_cast<int>(text.size())));
}

std::vector<std::string> split_sentences(std::string_view text) {
  check_text(text, "split_sentences.text");
  std::string line(text);
  for (char& c : line) {
    if (c >= '\n' && c <= '\r') c = ' ';
  }
  std::vector<std::string> sentences;
  for_each_part(line, "sentence", [&](std::string_view part, bool) {
    if (const std::string_view sentence = trim(part); !sentence.empty()) {
      sentences.emplace_back(sentence);
    }
  });
  return sentences;
}

std::vector<std::string> split_words(std::string_view text) {
  check_text(text, "split_words.text");
  if (text::is_ascii(text)) return text::ascii_words(text);  // as in every build
  std::vector<std::string> words;
  for_each_part(text, "word", [&](std::string_view part, bool shows_nothing) {
    if (!shows_nothing) words.emplace_back(trim(part));
  });
  return words;
}

std::vector<std::size_t> text::visible_character_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  for_each_part(text, "grapheme", [&, end = std::size_t{0}](std::string_view part, bool) mutable {
    ends.push_back(end += part.size());
  });
  return ends;
}

std::int64_t visible_length(std::string_view text) {
  check_text(text, "visible_length.text");
  std::int64_t length = 0;
  for_each_part(text, "grapheme", [&](std::string_view, bool) { ++length; });
  return length;
}

std::string shorten(std::string_view text, std::int64_t length) {
  check_text(text, "shorten.text");
  if (length < 1) throw Error("shorten.length", "must be >= 1, got " + std::to_string(length));
  std::int64_t count = 0;
  std::size_t kept = 0;  // bytes of the first length - 1 characters
  for_each_part(text, "grapheme", [&](std::string_view part, bool) {
    if (++count < length) kept += part.size();
  });
  if (count <= length) return std::string(text);
  return std::string(text.substr(0, kept)) + "\u2026";
}

}  // namespace sextant
