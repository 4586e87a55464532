// Splits a text into lower-cased sentences of words, the training data of word vectors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

struct WordText {
  std::vector<std::vector<std::string>> sentences;

  // Throws an Error with `where` for bytes that are not UTF-8 and for a text without a word.
  static WordText parse(std::string_view text, const std::string& where);

  std::int64_t word_count() const;
  // Returns the places of two words, counted from 0 at the start of their sentence: in the first
  // sentence that has both, else each in the first sentence that has it. Throws an Error with
  // `where` and a word that is absent.
  std::pair<std::int64_t, std::int64_t> places(const std::string& first, const std::string& second,
                                               const std::string& where) const;
};

}  // namespace sextant
