// Strangers' text in messages.
#include "sextant/core/printable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Printable, LeavesPrintableTextAsItIs) {
  for (const char* text : {"", "plain", "Käse, 位置, שלום", "a\\nb", "😀"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, EscapesWhatATerminalActsOnOrDoesNotShow) {
  EXPECT_EQ(printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(printable("\x1b[2Jx\x7f"), "\\x1b[2Jx\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b") << "a control sequence in one character";
  EXPECT_EQ(printable("\u202egpj.exe"), "\\u202egpj.exe");
  EXPECT_EQ(printable("a\u200bb\u2028c\ufeff"), "a\\u200bb\\u2028c\\ufeff");
  EXPECT_EQ(printable("\U000e0041"), "\\u0e0041");
}

TEST(Printable, KeepsLinesAndJoinersForATerminal) {
  for (const char* text : {"a\nb\tc", "👩\u200d👧", "\u0645\u06cc\u200c", "Käse"}) {
    EXPECT_EQ(terminal_text(text), text);
  }
  EXPECT_EQ(terminal_text("\x1b]0;t\x07\r\x7f"), "\\x1b]0;t\\x07\\r\\x7f");
  EXPECT_EQ(terminal_text("\u009b\u202e\u200f\u2066\u2028"), "\\x9b\\u202e\\u200f\\u2066\\u2028");
  EXPECT_EQ(terminal_text("\xff"), "\\xff");
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff\xfe"), "a\\xff\\xfe");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "a longer form than needed";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(Printable, IsTheSameTwice) {
  for (const std::string& text :
       {std::string("a\nb\x1b\xff"), std::string(5000, 'x'), std::string(5000, '\n')}) {
    EXPECT_EQ(printable(printable(text)), printable(text));
  }
}

TEST(Printable, OfALongTextShowsBothEnds) {
  for (const std::string& unit : {std::string("x"), std::string("\n"), std::string("位"),
                                  std::string("\xff"), std::string("😀")}) {
    std::string text = "begin ";
    while (text.size() < 1000000) text += unit;
    text += " end";
    for (const std::size_t most : {16u, 17u, 40u, 1000u}) {
      const std::string shown = printable(text, most);
      EXPECT_LE(shown.size(), most) << unit;
      EXPECT_GE(shown.size(), most - 12) << unit;
      EXPECT_THAT(shown, StartsWith("begin "));
      EXPECT_THAT(shown, HasSubstr("..."));
      EXPECT_THAT(shown, EndsWith(" end"));
      EXPECT_EQ(printable(shown), shown) << "cut inside a character";
    }
  }
}

TEST(PrintableQuote, IsShort) {
  EXPECT_EQ(printable_quote("a\nb"), "'a\\nb'");
  EXPECT_EQ(printable_quote(std::string(40, 'a')), "'" + std::string(40, 'a') + "'");
  EXPECT_EQ(printable_quote(std::string(41, 'a')), "'" + std::string(40, 'a') + "...'");
}

TEST(Error, IsOneShortPrintableLine) {
  const std::string name = "a\nb\x1b[31m\xff" + std::string(1000000, 'x') + ".npy";
  const Error error(name, "must not be '" + name + "'");
  const std::string text = error.what();
  EXPECT_LT(text.size(), 1500u);
  EXPECT_THAT(text, StartsWith("[a\\nb\\x1b[31m\\xffxxx"));
  EXPECT_THAT(text, HasSubstr("x.npy] must not be 'a\\nb\\x1b"));
  EXPECT_THAT(text, EndsWith("x.npy'"));
  EXPECT_EQ(error.where(), name) << "the argument itself";
}

}  // namespace
}  // namespace sextant
