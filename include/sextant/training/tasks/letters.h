// Makes small translation tasks on letters: copy them, reverse them, sort them.
//   copy "dbca" -> "dbca", reverse "dbca" -> "acbd", sort "dbca" -> "abcd"
// Copying and reversing need the order of the input; sorting does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/text/pairs.h"

namespace sextant {

enum class LetterTask { copy, reverse, sort };
std::string_view name_of(LetterTask task) noexcept;

// Returns the answer of the task for letters.
std::string expected_answer(LetterTask task, std::string letters);

struct LetterPairs {
  LetterTask task = LetterTask::copy;
  std::int64_t count = 20000;  // 1 .. 10000000 pairs
  // Whether the pairs are for the held-out data. A hash of the letters chooses about one in ten:
  // none of them is in the training data, with any seed.
  bool held_out = false;
  std::int64_t letters = 8;   // 2 .. 26: the number of letters, from a on
  std::int64_t shortest = 3;  // letters of a source, 1 .. longest
  std::int64_t longest = 8;   // .. 1000
  std::uint32_t seed = 0;
};

// Returns sources drawn at random, each length as often as any other; the same for the same
// options. Throws an Error with letters.OPTION for options out of range.
SentencePairs letter_pairs(const LetterPairs& options);

}  // namespace sextant
