// Words, sentences, characters and lower case by the browser's own Unicode tables (Intl.Segmenter),
// for WebAssembly. ICU's list of English abbreviations is not there: "Mr." ends a sentence.
#include "sextant/text/segment.h"

#include <emscripten.h>

#include <cstdlib>
#include <memory>

#include "sextant/core/error.h"
#include "text/ascii.h"

// JavaScript. Both return a string that the caller frees. The parts of a text as "LENGTH FLAG"
// pairs: bytes of UTF-8, and w for words, s for what shows nothing, 1 for the rest.
// clang-format off
EM_JS(char*, sextant_parts, (const char* text, int bytes, const char* granularity), {
  const segmenter = new Intl.Segmenter("en", {granularity: UTF8ToString(granularity)});
  const slash = String.fromCharCode(92);  // a backslash here would be gone before JavaScript sees it
  const any_of = (names) => names.map((name) => slash + "p{" + name + "}").join("");
  const nothing = new RegExp("^[" + any_of(["White_Space", "Cc", "Cf"]) + "]*$", "u");
  let list = "";
  for (const part of segmenter.segment(UTF8ToString(text, bytes))) {
    const segment = part.segment;
    const flag = part.isWordLike ? "w" : nothing.test(segment) ? "s" : "1";
    list += lengthBytesUTF8(segment) + " " + flag + " ";
  }
  const size = lengthBytesUTF8(list) + 1;
  const copy = _malloc(size);
  stringToUTF8(list, copy, size);
  return copy;
})
EM_JS(char*, sextant_lower, (const char* text, int bytes), {
  const lower = UTF8ToString(text, bytes).toLowerCase();
  const size = lengthBytesUTF8(lower) + 1;
  const copy = _malloc(size);
  stringToUTF8(lower, copy, size);
  return copy;
})
// clang-format on

namespace sextant {
namespace {

using Returned = std::unique_ptr<char, decltype(&std::free)>;

void check_text(std::string_view text, const char* where) {
  check_utf8(text, where);
  if (text.find('\0') != std::string_view::npos) {
    throw Error(where, "must not have a zero byte");  // where JavaScript would end it
  }
}

// Calls visit(part, flag) for every stretch between two boundaries.
template <class Visit>
void for_each_part(std::string_view text, const char* granularity, Visit visit) {
  const Returned list(sextant_parts(text.data(), static_cast<int>(text.size()), granularity),
                      &std::free);
  std::size_t begin = 0;
  for (const char* at = list.get(); *at != '\0';) {
    char* end = nullptr;
    const auto length = static_cast<std::size_t>(std::strtoul(at, &end, 10));
    visit(text.substr(begin, length), end[1]);
    begin += length;
    at = end + 3;  // " w "
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
  return Returned(sextant_lower(text.data(), static_cast<int>(text.size())), &std::free).get();
}

std::vector<std::string> split_sentences(std::string_view text) {
  check_text(text, "split_sentences.text");
  std::string line(text);
  for (char& c : line) {
    if (c >= '\n' && c <= '\r') c = ' ';
  }
  std::vector<std::string> sentences;
  for_each_part(line, "sentence", [&](std::string_view part, char) {
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
  for_each_part(text, "word", [&](std::string_view part, char flag) {
    if (flag != 's') words.emplace_back(trim(part));
  });
  return words;
}

std::int64_t visible_length(std::string_view text) {
  check_text(text, "visible_length.text");
  std::int64_t length = 0;
  for_each_part(text, "grapheme", [&](std::string_view, char) { ++length; });
  return length;
}

std::string shorten(std::string_view text, std::int64_t length) {
  check_text(text, "shorten.text");
  if (length < 1) throw Error("shorten.length", "must be >= 1, got " + std::to_string(length));
  std::int64_t count = 0;
  std::size_t kept = 0;  // bytes of the first length - 1 characters
  for_each_part(text, "grapheme", [&](std::string_view part, char) {
    if (++count < length) kept += part.size();
  });
  if (count <= length) return std::string(text);
  return std::string(text.substr(0, kept)) + "\u2026";
}

}  // namespace sextant
