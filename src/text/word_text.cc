// A text as lower-cased sentences of words.
#include "sextant/text/word_text.h"

#include <algorithm>

#include "sextant/core/error.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

// -1 when the word is not there.
std::int64_t place_of(const std::vector<std::string>& sentence, const std::string& word,
                      std::int64_t after = -1) {
  const auto begin = sentence.begin() + (after + 1);
  const auto found = std::find(begin, sentence.end(), word);
  return found == sentence.end() ? -1 : found - sentence.begin();
}

}  // namespace

WordText WordText::parse(std::string_view text, const std::string& where) {
  check_utf8(text, where);
  WordText result;
  for (const std::string& sentence : split_sentences(text)) {
    auto words = split_words(lower_case(sentence));
    if (!words.empty()) result.sentences.push_back(std::move(words));
  }
  if (result.sentences.empty()) throw Error(where, "must hold some text, got no word");
  return result;
}

std::int64_t WordText::word_count() const {
  std::int64_t count = 0;
  for (const auto& sentence : sentences) count += static_cast<std::int64_t>(sentence.size());
  return count;
}

std::pair<std::int64_t, std::int64_t> WordText::places(const std::string& first,
                                                       const std::string& second,
                                                       const std::string& where) const {
  std::int64_t first_alone = -1;
  std::int64_t second_alone = -1;
  for (const auto& sentence : sentences) {
    const std::int64_t a = place_of(sentence, first);
    // The same word twice: its first two places, when there are two.
    const std::int64_t b = place_of(sentence, second, first == second ? a : -1);
    if (a >= 0 && b >= 0) return {a, b};
    if (first_alone < 0) first_alone = a;
    if (second_alone < 0) second_alone = first == second ? a : b;
  }
  for (const auto& [place, word] :
       {std::pair(first_alone, first), std::pair(second_alone, second)}) {
    if (place < 0) {
      throw Error(where, "must be given: the text has no word '" + word + "' to find one");
    }
  }
  return {first_alone, second_alone};
}

}  // namespace sextant
