// Pairs that are added: turned around, from disturbed words, joined, with other words.
#include "sextant/training/tasks/augment_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "sextant/text/segment.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;

TEST(AugmentPairs, AugmentedAreThoseTurnedAroundAndFromDisturbedWords) {
  SentencePairs pairs;
  std::string words;
  for (int i = 0; i < 200; ++i) words += std::to_string(i) + ' ';
  words.pop_back();
  pairs.source = {"thou art .", "a"};
  pairs.target = {words, "b"};
  const PairAugmentation how{.swap = true, .shuffle = true};
  const SentencePairs all = augmented(pairs, how, 7);
  ASSERT_EQ(all.source.size(), 6U);
  EXPECT_THAT(all.target, ElementsAre(words, "b", "thou art .", words, "a", "b"));
  const std::string disturbed = all.source[3];
  EXPECT_THAT(all.source, ElementsAre("thou art .", "a", words, disturbed, "b", "b"));
  std::istringstream stream(disturbed);
  std::vector<int> found;
  int moved = 0;
  for (int word = 0; stream >> word;) {
    const int place = static_cast<int>(found.size());
    EXPECT_LE(std::abs(word - place), 2);
    moved += word != place;
    found.push_back(word);
  }
  // Neighbours change places with probability 2/9 if they are alone; more with others about.
  EXPECT_GT(moved, 60);
  std::ranges::sort(found);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(augmented(pairs, how, 7).source, all.source);
  EXPECT_NE(augmented(pairs, how, 8).source, all.source);
  EXPECT_EQ(augmented(pairs, {.swap = true}, 7).source.size(), 4U);
  EXPECT_EQ(augmented(pairs, {}, 7).source, pairs.source);
}

TEST(AugmentPairs, JoinedAreEachWithTheNext) {
  const SentencePairs pairs{.source = {"art thou ?", "ay", "no"},
                            .target = {"are you ?", "yes", "no"},
                            .source_name = {},
                            .target_name = {}};
  const SentencePairs all = augmented(pairs, {.join = true}, 1);
  EXPECT_THAT(all.source, ElementsAre("art thou ?", "ay", "no", "art thou ? ay", "ay no"));
  EXPECT_THAT(all.target, ElementsAre("are you ?", "yes", "no", "are you ? yes", "yes no"));
}

TEST(AugmentPairs, ReplacedWordsAreTheSameOnBothSides) {
  SentencePairs pairs;
  // The 250 commonest: 245 words and thou, you, 3rd, ! and .; rare words and names beside them.
  for (int i = 0; i < 300; ++i) {
    const char a = static_cast<char>('a' + i % 26), b = static_cast<char>('a' + i / 26);
    const std::string common = std::string("often") + a + b;
    for (int times = 0; times < 5 && i < 245; ++times) {
      pairs.source.push_back(common);
      pairs.target.push_back(common);
    }
    pairs.source.push_back("thou " + common + " Lord" + a + b + " rärely" + a + b + " 3rd !");
    pairs.target.push_back("you " + common + " Lord" + a + b + " rärely" + a + b + " 3rd .");
  }
  const SentencePairs all = augmented(pairs, {.replace = true}, 3);
  const std::size_t count = pairs.source.size();
  ASSERT_EQ(all.source.size(), 3 * count);
  std::size_t names = 0, words = 0, known = 0, sentences = 0;
  for (std::size_t i = count; i < all.source.size(); ++i) {
    const auto source = split_spaces(all.source[i]), target = split_spaces(all.target[i]);
    const auto from = split_spaces(pairs.source[(i - count) / 2]);
    ASSERT_EQ(source.size(), from.size());
    if (source.size() == 1) {
      EXPECT_EQ(source, from);  // the commonest stay
      continue;
    }
    ++sentences;
    EXPECT_EQ(source[0], "thou");  // as what only one side has
    EXPECT_EQ(target[0], "you");
    EXPECT_EQ(source[4] + target[5] + source[5], "3rd.!");
    for (std::size_t w = 1; w < 4; ++w) EXPECT_EQ(source[w], target[w]);
    EXPECT_TRUE(source[2][0] >= 'A' && source[2][0] <= 'Z') << source[2];
    names += source[2] != from[2];
    words += source[3] != from[3];
    known += std::ranges::any_of(pairs.source, [&](const std::string& one) {
      return one.find(" " + source[2] + " ") != std::string::npos;
    });
    check_utf8(all.source[i], "replaced");
  }
  // Half of them, give or take five deviations. Of the names 0.7 are made up; a third of those
  // exist, where "Lord" is cut in two at one place.
  EXPECT_NEAR(static_cast<double>(names) / static_cast<double>(sentences), 0.5, 0.11);
  EXPECT_NEAR(static_cast<double>(words) / static_cast<double>(sentences), 0.5, 0.11);
  EXPECT_NEAR(static_cast<double>(known) / static_cast<double>(sentences),
              0.5 + 0.5 * (0.3 + 0.7 / 3), 0.09);
}

TEST(AugmentPairs, ReplacingNeedsNoWordsToChooseFrom) {
  const SentencePairs pairs{
      .source = {"1 2 3"}, .target = {"1 2"}, .source_name = {}, .target_name = {}};
  const SentencePairs all = augmented(pairs, {.swap = true, .shuffle = true, .replace = true}, 1);
  EXPECT_EQ(all.source.size(), 5U);
  EXPECT_THAT(all.target, ElementsAre("1 2", "1 2", "1 2", "1 2 3", "1 2"));
}

}  // namespace
}  // namespace sextant
