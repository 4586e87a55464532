// Words and sentences of many scripts, and what counts as UTF-8. Expected splits are read off the
// rules of UAX #29.
#include "sextant/text/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "e" with an acute accent of its own, a family joined by U+200D, a flag of two letters.
constexpr auto kAccented = "e\u0301";
constexpr auto kFamily = "\U0001F468\u200D\U0001F469\u200D\U0001F467";
constexpr auto kFlag = "\U0001F1EB\U0001F1F7";

TEST(Words, KeepContractionsAndNumbersAndSplitPunctuationMarks) {
  EXPECT_THAT(split_words("Don't stop."), ElementsAre("Don't", "stop", "."));
  EXPECT_THAT(split_words("Wait... what?!"), ElementsAre("Wait", ".", ".", ".", "what", "?", "!"));
  EXPECT_THAT(split_words("It costs $3.14, or 1,000%"),
              ElementsAre("It", "costs", "$", "3.14", ",", "or", "1,000", "%"));
  EXPECT_THAT(split_words("the U.S. army"), ElementsAre("the", "U.S", ".", "army"));
  EXPECT_THAT(split_words("well-known (\u201Cquoted\u201D)"),
              ElementsAre("well", "-", "known", "(", "\u201C", "quoted", "\u201D", ")"));
}

TEST(Words, WhiteSpaceControlsAndByteOrderMarksAreNone) {
  EXPECT_THAT(split_words("\uFEFF a \t\r\n b\u00A0c\u3000d\u200B\x01 "),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(split_words(""), IsEmpty());
  EXPECT_THAT(split_words(" \n\t "), IsEmpty());
}

TEST(Words, StayWholeInEveryScript) {
  EXPECT_THAT(split_words(std::string("caf") + kAccented + " d'\u00E9t\u00E9"),
              ElementsAre(std::string("caf") + kAccented, "d'\u00E9t\u00E9"));
  EXPECT_THAT(split_words(std::string("a ") + kFamily + kFlag + "!"),
              ElementsAre("a", kFamily, kFlag, "!"));
  EXPECT_THAT(split_words("\u041F\u0440\u0438\u0432\u0435\u0442, \u043C\u0438\u0440"),
              ElementsAre("\u041F\u0440\u0438\u0432\u0435\u0442", ",", "\u043C\u0438\u0440"));
  // "Student." in Chinese: no spaces, found in ICU's dictionary; the mark is on its own.
  EXPECT_THAT(split_words("\u5B66\u751F\u3002"), ElementsAre("\u5B66\u751F", "\u3002"));
}

// Where versions of ICU differ in their own rules, and what their dictionaries and marks are asked
// for.
TEST(Words, FollowRulesOfOurOwn) {
  EXPECT_THAT(split_words("@a a@b.c \u00E9@a"), ElementsAre("@a", "a@b.c", "\u00E9@a"));
  EXPECT_THAT(split_words("a:b \u00E9:\u00E9"),
              ElementsAre("a", ":", "b", "\u00E9", ":", "\u00E9"));
  EXPECT_THAT(split_words("\u05D0\u05F4\u05D1 \u05D0' a\u00B7b"),
              ElementsAre("\u05D0\u05F4\u05D1", "\u05D0'", "a\u00B7b"));
  EXPECT_THAT(split_words("a_1.5_\u30AB\u30BF\u30AB\u30CA \uD55C\uAD6D\uC5B4"),
              ElementsAre("a_1.5_\u30AB\u30BF\u30AB\u30CA", "\uD55C\uAD6D\uC5B4"));
  // "Hello, world" in Thai.
  EXPECT_THAT(split_words("\u0E2A\u0E27\u0E31\u0E2A\u0E14\u0E35\u0E42\u0E25\u0E01"),
              ElementsAre("\u0E2A\u0E27\u0E31\u0E2A\u0E14\u0E35", "\u0E42\u0E25\u0E01"));
}

TEST(Words, JoinBackToTheTextWithoutItsSpaces) {
  const std::string text =
      "To be, or not to be: that's the question\u2014\u00ABn'est-ce pas?\u00BB \U0001F600";
  std::string joined;
  for (const std::string& word : split_words(text)) joined += word;
  std::string expected;
  for (const char c : text) {
    if (c != ' ') expected += c;
  }
  EXPECT_EQ(joined, expected);
}

TEST(Sentences, EndAtTheirMarksAndNotAtLineBreaks) {
  EXPECT_THAT(split_sentences("The black cat sat\non the couch. The brown\r\ndog slept! Did it?"),
              ElementsAre("The black cat sat on the couch.", "The brown dog slept!", "Did it?"));
  EXPECT_THAT(split_sentences("one\u2028two\u0085three"), ElementsAre("one two three"));
}

TEST(Sentences, DoNotEndAtAbbreviationsOrInsideNumbers) {
  EXPECT_THAT(split_sentences("Mr. Smith paid Dr. Hill 3.50. He left."),
              ElementsAre("Mr. Smith paid Dr. Hill 3.50.", "He left."));
}

TEST(Sentences, AreTrimmedAndNeverEmpty) {
  EXPECT_THAT(split_sentences("  A.  \n\n  B.\u3000"), ElementsAre("A.", "B."));
  EXPECT_THAT(split_sentences(""), IsEmpty());
  EXPECT_THAT(split_sentences(" \n \u00A0"), IsEmpty());
}

TEST(Spaces, SplitAtUnicodeWhiteSpaceOnly) {
  EXPECT_THAT(split_spaces("the zebra chased the lion ."),
              ElementsAre("the", "zebra", "chased", "the", "lion", "."));
  EXPECT_THAT(split_spaces("\ta\u00A0b\u2003c\n\n<pad>  don't. "),
              ElementsAre("a", "b", "c", "<pad>", "don't."));
  EXPECT_THAT(split_spaces(" \u3000"), IsEmpty());
}

TEST(LowerCase, FollowsUnicodeAndNoLanguage) {
  EXPECT_EQ(lower_case("The BLACK Cat"), "the black cat");
  EXPECT_EQ(lower_case("\u0394\u039F\u039C\u039F\u03A3 \u03A3"),
            "\u03B4\u03BF\u03BC\u03BF\u03C2 \u03C3");  // final sigma
  EXPECT_EQ(lower_case("\u00C4\u00D6\u00DC\u1E9E"), "\u00E4\u00F6\u00FC\u00DF");
  EXPECT_EQ(lower_case("\u0130I"), "i\u0307i");  // no Turkish i
  EXPECT_EQ(lower_case(""), "");
}

TEST(Utf8, AcceptsTheFirstAndLastOfEveryLength) {
  for (const char* text : {"", "\x7F", "\u0080", "\u07FF", "\u0800", "\uFFFF", "\U00010000",
                           "\U0010FFFF", "\uD7FF", "\uE000"}) {
    EXPECT_NO_THROW(check_utf8(text, "text"));
  }
  EXPECT_NO_THROW(check_utf8(std::string("a\0b", 3), "text"));
}

TEST(Utf8, RefusesEverythingElseAndSaysWhere) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"ab\xFF", "byte 0xff at offset 2"},
      {"\x80", "byte 0x80 at offset 0"},              // a continuation alone
      {"a\xC0\xAF", "byte 0xc0 at offset 1"},         // overlong
      {"\xE0\x80\xAF", "byte 0xe0 at offset 0"},      // overlong
      {"\xF0\x80\x80\xAF", "byte 0xf0 at offset 0"},  // overlong
      {"ab\xED\xA0\x80", "byte 0xed at offset 2"},    // a surrogate
      {"\xF4\x90\x80\x80", "byte 0xf4 at offset 0"},  // above U+10FFFF
      {"\xF5\x80\x80\x80", "byte 0xf5 at offset 0"},  // no such first byte
      {"\u00E9\xE2\x82", "byte 0xe2 at offset 2"},    // cut
      {"\xC3(", "byte 0xc3 at offset 0"},             // cut by another character
  };
  for (const auto& [text, message] : faults) {
    const std::string bytes = text;
    EXPECT_EQ(error_of([&] { check_utf8(bytes, "text"); }), "[text] must be UTF-8, got " + message);
  }
}

TEST(Utf8, IsCheckedByEveryFunction) {
  const std::string bad = "a\xFF";
  EXPECT_THROW(lower_case(bad), Error);
  EXPECT_THROW(split_sentences(bad), Error);
  EXPECT_THROW(split_words(bad), Error);
  EXPECT_THROW(split_spaces(bad), Error);
  EXPECT_THROW(visible_length(bad), Error);
  EXPECT_THROW(display_width(bad), Error);
  EXPECT_THROW(shorten(bad, 5), Error);
}

TEST(VisibleLength, CountsWhatAReaderSees) {
  EXPECT_EQ(visible_length("couch"), 5);
  EXPECT_EQ(visible_length(kAccented), 1);
  EXPECT_EQ(visible_length(kFamily), 1);
  EXPECT_EQ(visible_length(kFlag), 1);
  EXPECT_EQ(visible_length("\u5B66\u751F"), 2);
  EXPECT_EQ(visible_length(""), 0);
}

TEST(DisplayWidth, CountsTerminalCells) {
  EXPECT_EQ(display_width("couch"), 5);
  EXPECT_EQ(display_width("a b"), 3);
  EXPECT_EQ(display_width(kAccented), 1);
  EXPECT_EQ(display_width("\u5B66\u751F"), 4);
  EXPECT_EQ(display_width("\uFF21"), 2);  // a full-width A
  EXPECT_EQ(display_width(kFamily), 2);
  EXPECT_EQ(display_width(kFlag), 2);
  EXPECT_EQ(display_width("\u2764\uFE0F"), 2);  // a heart, in its emoji form
  EXPECT_EQ(display_width("\u2764"), 1);
  EXPECT_EQ(display_width("\u2581the"), 4);
  EXPECT_EQ(display_width("\u200B\x01"), 0);
}

TEST(Shorten, CutsBetweenVisibleCharactersOnly) {
  EXPECT_EQ(shorten("couch", 5), "couch");
  EXPECT_EQ(shorten("couches", 5), "couc\u2026");
  EXPECT_EQ(shorten("couches", 1), "\u2026");
  EXPECT_EQ(shorten(std::string(kFamily) + kAccented + "x", 2), std::string(kFamily) + "\u2026");
  EXPECT_EQ(shorten("", 1), "");
  EXPECT_THAT(error_of([] { shorten("a", 0); }), HasSubstr("[shorten.length] must be >= 1, got 0"));
}

TEST(Segmentation, IsTheSameFromManyThreads) {
  const std::string text = "Mr. Fox can't. \u5B66\u751F " + std::string(kFamily);
  const auto words = split_words(text);
  const auto sentences = split_sentences(text);
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (int& result : same) {
    threads.emplace_back([&text, &words, &sentences, &result] {
      result = 1;
      for (int i = 0; i < 50; ++i) {
        if (split_words(text) != words || split_sentences(text) != sentences) result = 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, ElementsAre(1, 1, 1, 1));
}

}  // namespace
}  // namespace sextant
