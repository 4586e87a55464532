// Letters to copy, reverse and sort.
#include "sextant/training/tasks/letters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sextant/core/error.h"
#include "sextant/training/tasks/built_in_data.h"

namespace sextant {
namespace {

TEST(Letters, AreCopiedReversedAndSorted) {
  EXPECT_EQ(expected_answer(LetterTask::copy, "dbcab"), "dbcab");
  EXPECT_EQ(expected_answer(LetterTask::reverse, "dbcab"), "bacbd");
  EXPECT_EQ(expected_answer(LetterTask::sort, "dbcab"), "abbcd");
  EXPECT_EQ(name_of(LetterTask::reverse), "reverse");
}

TEST(Letters, AreOfTheLengthsAndLettersThatWereAskedFor) {
  const SentencePairs pairs = letter_pairs(
      {.task = LetterTask::reverse, .count = 3000, .letters = 4, .shortest = 2, .longest = 6});
  ASSERT_EQ(pairs.source.size(), 3000U);
  std::set<std::size_t> lengths;
  std::set<char> letters;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    lengths.insert(pairs.source[i].size());
    letters.insert(pairs.source[i].begin(), pairs.source[i].end());
    EXPECT_EQ(pairs.target[i], std::string(pairs.source[i].rbegin(), pairs.source[i].rend()));
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{2, 3, 4, 5, 6}));
  EXPECT_EQ(letters, (std::set<char>{'a', 'b', 'c', 'd'}));
}

TEST(Letters, HoldTheSameTextsOutWithEverySeed) {
  const LetterPairs options{.count = 2000, .letters = 4, .shortest = 3, .longest = 6};
  LetterPairs held_out = options, other = options;
  held_out.held_out = true;
  other.seed = 5;
  const auto texts = [](const LetterPairs& each) {
    const auto source = letter_pairs(each).source;
    return std::set<std::string>(source.begin(), source.end());
  };
  const auto hidden = texts(held_out);
  for (const auto& seen : {texts(options), texts(other)}) {
    std::vector<std::string> both;
    std::ranges::set_intersection(seen, hidden, std::back_inserter(both));
    EXPECT_TRUE(both.empty());
  }
  EXPECT_NE(letter_pairs(options).source, letter_pairs(other).source);
  // 5376 + 64 texts in all, a tenth of them hidden: of 2000 draws nearly all of that tenth.
  EXPECT_GT(hidden.size(), 300U);
  EXPECT_LT(hidden.size(), 700U);
}

TEST(Letters, RefusesOptionsOutOfRange) {
  EXPECT_THROW(letter_pairs({.count = 0}), Error);
  EXPECT_THROW(letter_pairs({.letters = 1}), Error);
  EXPECT_THROW(letter_pairs({.letters = 27}), Error);
  EXPECT_THROW(letter_pairs({.shortest = 0}), Error);
  EXPECT_THROW(letter_pairs({.shortest = 9, .longest = 8}), Error);
  // Two texts, of which none is held out: nothing is found, and that is said.
  EXPECT_THROW(letter_pairs({.held_out = true, .letters = 2, .shortest = 1, .longest = 1}), Error);
}

TEST(BuiltInData, IsOfEveryTaskWithoutFiles) {
  for (const char* task : {"dates", "copy", "reverse", "sort"}) {
    ASSERT_TRUE(is_built_in(task));
    const BuiltInData data = built_in_data(task, 1);
    EXPECT_EQ(data.training.source.size(), 20000U);
    EXPECT_EQ(data.validation.source.size(), 500U);
    EXPECT_EQ(data.check.source.size(), 1000U);
    const std::set<std::string> learned(data.training.source.begin(), data.training.source.end());
    for (const std::string& source : data.check.source) EXPECT_FALSE(learned.contains(source));
  }
  EXPECT_FALSE(is_built_in("lm"));
  EXPECT_THROW(built_in_data("lm", 1), Error);
}

}  // namespace
}  // namespace sextant
