// Pair files and text files: what is read, and the line of every fault.
#include "sextant/text/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sextant/core/files.h"
#include "sextant/text/segment.h"
#include "text/expect_error.h"
#include "text/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Pairs, HeaderIsSeenAndNamesTheSides) {
  const SentencePairs pairs = parse_pairs("original\tmodern\nthou art .\tyou are .\na\tb\n");
  EXPECT_EQ(pairs.source_name, "original");
  EXPECT_EQ(pairs.target_name, "modern");
  EXPECT_THAT(pairs.source, ElementsAre("thou art .", "a"));
  EXPECT_THAT(pairs.target, ElementsAre("you are .", "b"));
}

TEST(Pairs, SwappedColumnsTurnTheDirection) {
  const SentencePairs pairs =
      parse_pairs("original\tmodern\na b\tc d\n", {.source = 1, .target = 0});
  EXPECT_EQ(pairs.source_name, "modern");
  EXPECT_THAT(pairs.source, ElementsAre("c d"));
  EXPECT_THAT(pairs.target, ElementsAre("a b"));
}

TEST(Pairs, HeaderCanBeForcedAndForbidden) {
  const std::string bytes = "one two\tthree four\na\tb\n";
  EXPECT_EQ(parse_pairs(bytes).source.size(), 2u);
  EXPECT_THAT(parse_pairs(bytes, {.header = HeaderLine::yes}).source, ElementsAre("a"));
  EXPECT_THAT(parse_pairs("original\tmodern\na\tb\n", {.header = HeaderLine::no}).source,
              ElementsAre("original", "a"));
}

TEST(Pairs, WhatLooksLikeSentencesIsNoHeader) {
  for (const char* first : {"Ay !\tYes !", "Ay\tAy", "Ay.\tYes", "\u00C9t\u00E9\tsummer"}) {
    EXPECT_EQ(parse_pairs(std::string(first) + "\na\tb\n").source.size(), 2u) << first;
  }
  EXPECT_EQ(parse_pairs("Ay\tYes").source.size(), 1u);  // no line follows
}

TEST(Pairs, LineEndsSpacesAndAByteOrderMarkAreNoText) {
  const SentencePairs pairs = parse_pairs("\uFEFFx y\tb  \r\n  c\td e\r\n");
  EXPECT_THAT(pairs.source, ElementsAre("x y", "c"));
  EXPECT_THAT(pairs.target, ElementsAre("b", "d e"));
}

TEST(Pairs, MoreColumnsCanBeThere) {
  const SentencePairs pairs =
      parse_pairs("id\tde\ten\n1\tja wohl\tyes\n", {.source = 2, .target = 1});
  EXPECT_EQ(pairs.source_name, "en");
  EXPECT_THAT(pairs.target, ElementsAre("ja wohl"));
}

TEST(Pairs, EveryFaultNamesItsLine) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"a\tb\nc d\n", "[f.tsv, line 2] must have at least 2 fields separated by tabs, got 1"},
      {"a b\tb\nc\td\te\n", "[f.tsv, line 2] must have 2 fields separated by tabs as line 1 has"},
      {"a b\tb\n\nc\td\n", "[f.tsv, line 2] must have at least 2 fields"},
      {"a b\tb\nc\t\n", "[f.tsv, line 2] must have a target, got an empty field"},
      {"a b\tb\n \td\n", "[f.tsv, line 2] must have a source, got an empty field"},
      {"a b\tb\n\u00A0\u3000\td\n", "[f.tsv, line 2] must have a source, got an empty field"},
      {"a b\tb\nc\td\xFF\n", "[f.tsv, line 2] must be UTF-8, got byte 0xff at offset 3"},
      {"", "[f.tsv] must hold at least one pair"},
      {"\n", "[f.tsv, line 1] must have at least 2 fields"},
  };
  for (const auto& [text, message] : faults) {
    const std::string bytes = text;
    EXPECT_THAT(error_of([&] { parse_pairs(bytes, {}, "f.tsv"); }), HasSubstr(message)) << bytes;
  }
  EXPECT_THAT(error_of([] { parse_pairs("a\tb", {.header = HeaderLine::yes}); }),
              HasSubstr("at least one pair"));
}

TEST(Pairs, RefusesColumnsThatAreNone) {
  EXPECT_THAT(error_of([] { parse_pairs("a\tb", {.source = -1}); }),
              HasSubstr("[pairs.source] must be >= 0, got -1"));
  EXPECT_THAT(error_of([] { parse_pairs("a\tb", {.source = 1}); }),
              HasSubstr("[pairs.target] must be >= 0 and not the source column, got 1"));
  EXPECT_THAT(error_of([] { parse_pairs("a\tb", {.target = 2}); }),
              HasSubstr("line 1] must have at least 3 fields separated by tabs, got 2"));
}

TEST(Pairs, ComeFromFiles) {
  const TemporaryFolder folder;
  write_file(folder / "a.tsv", "a b\tc\n");
  EXPECT_THAT(load_pairs(folder / "a.tsv").source, ElementsAre("a b"));
  EXPECT_THAT(error_of([&] { load_pairs(folder / "none.tsv"); }), HasSubstr("none.tsv"));
  write_file(folder / "a.txt", "a\r\nb");
  EXPECT_THAT(load_texts(folder / "a.txt"), ElementsAre("a\nb"));
}

TEST(Pairs, AugmentedAreThoseTurnedAroundAndFromDisturbedWords) {
  SentencePairs pairs;
  std::string words;
  for (int i = 0; i < 200; ++i) words += std::to_string(i) + ' ';
  words.pop_back();
  pairs.source = {"thou art .", "a"};
  pairs.target = {words, "b"};
  const PairAugmentation how{.turn = true, .shuffle = true};
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
  EXPECT_EQ(augmented(pairs, {.turn = true}, 7).source.size(), 4U);
  EXPECT_EQ(augmented(pairs, {}, 7).source, pairs.source);
}

TEST(Pairs, JoinedAreEachWithTheNext) {
  const SentencePairs pairs{.source = {"art thou ?", "ay", "no"},
                            .target = {"are you ?", "yes", "no"},
                            .source_name = {},
                            .target_name = {}};
  const SentencePairs all = augmented(pairs, {.join = true}, 1);
  EXPECT_THAT(all.source, ElementsAre("art thou ?", "ay", "no", "art thou ? ay", "ay no"));
  EXPECT_THAT(all.target, ElementsAre("are you ?", "yes", "no", "are you ? yes", "yes no"));
}

TEST(Pairs, ReplacedWordsAreTheSameOnBothSides) {
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

TEST(Pairs, ReplacingNeedsNoWordsToChooseFrom) {
  const SentencePairs pairs{
      .source = {"1 2 3"}, .target = {"1 2"}, .source_name = {}, .target_name = {}};
  const SentencePairs all = augmented(pairs, {.turn = true, .shuffle = true, .replace = true}, 1);
  EXPECT_EQ(all.source.size(), 5U);
  EXPECT_THAT(all.target, ElementsAre("1 2", "1 2", "1 2", "1 2 3", "1 2"));
}

TEST(Texts, ComeAsFilesParagraphsOrLines) {
  const std::string bytes = "\uFEFFKING:\r\nWho ?\r\n\r\n \r\nQUEEN:\nI .\n";
  EXPECT_THAT(parse_texts(bytes), ElementsAre("KING:\nWho ?\n\n \nQUEEN:\nI .\n"));
  EXPECT_THAT(parse_texts(bytes, TextUnit::paragraph), ElementsAre("KING:\nWho ?", "QUEEN:\nI ."));
  EXPECT_THAT(parse_texts(bytes, TextUnit::line), ElementsAre("KING:", "Who ?", "QUEEN:", "I ."));
  EXPECT_THAT(parse_texts("no end"), ElementsAre("no end"));
}

TEST(Texts, RefusesWhatIsNone) {
  EXPECT_THAT(error_of([] { parse_texts(" \n\n\t"); }),
              HasSubstr("[text] must hold text, got nothing but white space"));
  EXPECT_THAT(error_of([] { parse_texts("", TextUnit::line); }), HasSubstr("must hold text"));
  EXPECT_THAT(error_of([] { parse_texts("a\nb\xC3"); }),
              HasSubstr("[text, line 2] must be UTF-8, got byte 0xc3 at offset 1"));
  EXPECT_THROW(parse_texts("a", static_cast<TextUnit>(5)), Error);
}

}  // namespace
}  // namespace sextant
