// Pair files and text files: what is read, and the line of every fault.
#include "sextant/text/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sextant/core/files.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

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
