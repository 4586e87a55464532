// Cleaning, escaping, measuring and shortening of labels.
#include "pictures/text.h"

#include <gtest/gtest.h>

namespace sextant::pictures {
namespace {

TEST(Text, EscapesMarkup) { EXPECT_EQ(escape("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;"); }

TEST(Text, RemovesWhatXmlForbids) {
  EXPECT_EQ(escape(std::string_view("a\0b\x01\x1f\x7f", 6)), "ab");
  EXPECT_EQ(escape("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(escape("\xef\xbf\xbf"), "");  // U+FFFF
}

TEST(Text, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(escape("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(decode("\xc0\x80"), U"\ufffd\ufffd");                      // overlong
  EXPECT_EQ(decode("\xed\xa0\x80"), U"\ufffd\ufffd\ufffd");            // a surrogate
  EXPECT_EQ(decode("\xf4\x90\x80\x80"), U"\ufffd\ufffd\ufffd\ufffd");  // beyond U+10FFFF
  EXPECT_EQ(decode("\xe2\x82"), U"\ufffd\ufffd");                      // cut short
}

TEST(Text, DecodesAndEncodesEveryLength) {
  const std::string text = "aé€😀";
  EXPECT_EQ(decode(text), U"aé€😀");
  EXPECT_EQ(encode(decode(text)), text);
}

TEST(Text, MeasuresDejaVuSansExactly) {
  // Advances in the font's own units of 1/2048 em: h 1298, i 569.
  EXPECT_NEAR(text_width("hi", 100, false), (1298 + 569) / 20.48, 0.1);
}

TEST(Text, MeasuresWideAndCombiningCharacters) {
  EXPECT_GE(text_width("中", 10), 10);
  EXPECT_EQ(text_width("e\u0301", 10), text_width("e", 10));
  EXPECT_GT(text_width("word", 10, true), text_width("word", 10));
}

TEST(Text, ShortenedTextFitsAndSaysSo) {
  const std::string word = "Donaudampfschifffahrtsgesellschaft";
  for (const double width : {20.0, 50.0, 100.0, 150.0}) {
    const std::string cut = shorten(word, 12, width);
    EXPECT_LE(text_width(cut, 12), width);
    EXPECT_TRUE(cut.ends_with("…"));
    EXPECT_TRUE(word.starts_with(cut.substr(0, cut.size() - std::string("…").size())));
  }
  EXPECT_EQ(shorten("short", 12, 100), "short");
}

TEST(Text, TokensAreReadable) {
  EXPECT_EQ(token_label("▁the"), "·the");
  EXPECT_EQ(token_label("Ġthe"), "·the");
  EXPECT_EQ(token_label("the</w>"), "the·");
  EXPECT_EQ(token_label("</w>"), "</w>");
  EXPECT_EQ(token_label(" the"), "·the");
  EXPECT_EQ(token_label("a b"), "a b");
  EXPECT_EQ(token_label("▁"), "␣");
  EXPECT_EQ(token_label("\n"), "↵");
  EXPECT_EQ(token_label("Ċ"), "↵");
  EXPECT_EQ(token_label("\t"), "⇥");
  EXPECT_EQ(token_label(""), "∅");
  EXPECT_EQ(token_label("[EOS]"), "[EOS]");
}

TEST(Text, TokensWithoutAShapeAreNamed) {
  EXPECT_EQ(token_label("\x01"), "U+0001");
  EXPECT_EQ(token_label("\u200b"), "U+200B");
  EXPECT_EQ(token_label("\u200d"), "U+200D");
  EXPECT_EQ(token_label("a\u202eb"), "aU+202Eb");
  EXPECT_EQ(token_label("\ufeffa"), "U+FEFFa");
  EXPECT_EQ(token_label("\u009b"), "U+009B");
  // What its script or emoji is written with stays, and a mark has something to stand on.
  EXPECT_EQ(token_label("👩\u200d👧"), "👩\u200d👧");
  EXPECT_EQ(token_label("\u0301"), "◌\u0301");
  EXPECT_EQ(token_label("e\u0301"), "e\u0301");
}

TEST(Text, NoCharacterTurnsTheDirectionOfWhatFollows) {
  EXPECT_EQ(escape("a\u202eb\u2066c"), "aU+202EbU+2066c");
  EXPECT_EQ(escape("\u05d0\u200f"), "\u05d0\u200f");
}

}  // namespace
}  // namespace sextant::pictures
