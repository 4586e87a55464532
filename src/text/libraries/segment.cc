// Word, sentence and character boundaries, and lower case, by ICU; everything works on byte offsets
// into the UTF-8 text itself, so nothing is converted to UTF-16 and back.
#include "sextant/text/segment.h"

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/filteredbrk.h>
#include <unicode/locid.h>
#include <unicode/rbbi.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <limits>
#include <memory>

#include "sextant/core/error.h"
#include "text/libraries/word_rules.h"
#include "text/pretrained/unicode/unicode.h"

namespace sextant {
namespace {

void check_icu(UErrorCode status, const char* where) {
  if (U_FAILURE(status)) throw Error(where, std::string("ICU reports ") + u_errorName(status));
}

// ICU counts bytes in 32 bits.
void check_text(std::string_view text, const char* where) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(where, "must be at most 2147483647 bytes long, got " + std::to_string(text.size()));
  }
  check_utf8(text, where);
}

// Returns the code point at `at` of valid UTF-8; moves `at` after it.
UChar32 next(std::string_view text, std::size_t& at) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  UChar32 c = 0;
  U8_NEXT_UNSAFE(bytes, at, c);
  return c;
}

std::string_view trim(std::string_view text) {
  std::size_t begin = text.size();
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    if (u_isUWhiteSpace(next(text, at))) continue;
    if (begin > here) begin = here;
    end = at;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view{};
}

// White space, controls and format characters such as a byte order mark.
bool shows_nothing(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const UChar32 c = next(text, at);
    const int category = u_charType(c);
    if (!u_isUWhiteSpace(c) && category != U_CONTROL_CHAR && category != U_FORMAT_CHAR) {
      return false;
    }
  }
  return true;
}

using Iterator = std::unique_ptr<icu::BreakIterator>;

Iterator make_words() {
  UErrorCode status = U_ZERO_ERROR;
  UParseError place;
  const auto rules = icu::UnicodeString::fromUTF8(text::kWordBreaks);
  Iterator words(new icu::RuleBasedBreakIterator(rules, place, status));
  check_icu(status, "split_words");
  return words;
}

Iterator make_characters() {
  UErrorCode status = U_ZERO_ERROR;
  Iterator characters(icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  check_icu(status, "visible_length");
  return characters;
}

Iterator make_sentences() {
  UErrorCode status = U_ZERO_ERROR;
  Iterator sentences(icu::BreakIterator::createSentenceInstance(icu::Locale::getEnglish(), status));
  const std::unique_ptr<icu::FilteredBreakIteratorBuilder> builder(
      icu::FilteredBreakIteratorBuilder::createInstance(icu::Locale::getEnglish(), status));
  check_icu(status, "split_sentences");
  // Common ones that the Unicode list of English abbreviations leaves out.
  for (const char* abbreviation : {"Dr.", "St.", "e.g.", "i.e."}) {
    builder->suppressBreakAfter(icu::UnicodeString::fromUTF8(abbreviation), status);
  }
  Iterator filtered(builder->wrapIteratorWithFilter(sentences.release(), status));
  check_icu(status, "split_sentences");
  return filtered;
}

// Calls visit(part, rule status) for every stretch between two boundaries. The prototype is shared
// by all threads and only cloned, because building one parses rules.
template <class Visit>
void for_each_part(const icu::BreakIterator& prototype, std::string_view text, Visit visit) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::LocalUTextPointer source(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status));
  const Iterator iterator(prototype.clone());
  if (iterator == nullptr) status = U_MEMORY_ALLOCATION_ERROR;
  check_icu(status, "text");
  iterator->setText(source.getAlias(), status);
  check_icu(status, "text");
  std::int32_t begin = iterator->first();
  for (std::int32_t end = iterator->next(); end != icu::BreakIterator::DONE;
       begin = end, end = iterator->next()) {
    visit(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
          iterator->getRuleStatus());
  }
}

template <class Visit>
void for_each_character(std::string_view text, Visit visit) {
  static const Iterator prototype = make_characters();
  for_each_part(*prototype, text, [&](std::string_view part, int) { visit(part); });
}

// Every line break as one space.
std::string unwrapped(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const UChar32 c = next(text, at);
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    if ((c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029) {
      line += ' ';
    } else {
      line += text.substr(begin, at - begin);
    }
  }
  return line;
}

}  // namespace

std::string lower_case(std::string_view text) {
  check_text(text, "lower_case.text");
  std::string lower;
  icu::StringByteSink<std::string> sink(&lower, static_cast<std::int32_t>(text.size()));
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8ToLower("", 0, {text.data(), static_cast<std::int32_t>(text.size())}, sink,
                            nullptr, status);
  check_icu(status, "lower_case");
  return lower;
}

std::vector<std::string> split_sentences(std::string_view text) {
  check_text(text, "split_sentences.text");
  static const Iterator prototype = make_sentences();
  const std::string line = unwrapped(text);
  std::vector<std::string> sentences;
  for_each_part(*prototype, line, [&](std::string_view part, int) {
    if (const std::string_view sentence = trim(part); !sentence.empty()) {
      sentences.emplace_back(sentence);
    }
  });
  return sentences;
}

std::vector<std::string> split_words(std::string_view text) {
  check_text(text, "split_words.text");
  static const Iterator prototype = make_words();
  std::vector<std::string> words;
  for_each_part(*prototype, text, [&](std::string_view part, int status) {
    // Parts that are no words by the rules are punctuation, symbols, emoji or invisible.
    const bool is_word = status >= UBRK_WORD_NONE_LIMIT;
    if (is_word || !shows_nothing(part)) words.emplace_back(trim(part));
  });
  return words;
}

std::vector<std::size_t> text::visible_character_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  for_each_character(text, [&, end = std::size_t{0}](std::string_view character) mutable {
    ends.push_back(end += character.size());
  });
  return ends;
}

std::int64_t visible_length(std::string_view text) {
  check_text(text, "visible_length.text");
  std::int64_t length = 0;
  for_each_character(text, [&](std::string_view) { ++length; });
  return length;
}

std::string shorten(std::string_view text, std::int64_t length) {
  check_text(text, "shorten.text");
  if (length < 1) throw Error("shorten.length", "must be >= 1, got " + std::to_string(length));
  std::int64_t count = 0;
  std::size_t kept = 0;  // bytes of the first length - 1 characters
  for_each_character(text, [&](std::string_view character) {
    if (++count < length) kept += character.size();
  });
  if (count <= length) return std::string(text);
  return std::string(text.substr(0, kept)) + "\u2026";
}

}  // namespace sextant
