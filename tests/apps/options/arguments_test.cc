// The command line's small languages, without the program around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/options/nearest.h"
#include "options/arguments.h"
#include "support/error_of.h"

namespace sextant::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(ParseInteger, ReadsTheWholeRange) {
  EXPECT_EQ(parse_integer("0", "n", kLeast, kMost), 0);
  EXPECT_EQ(parse_integer("+007", "n", kLeast, kMost), 7);
  EXPECT_EQ(parse_integer("9223372036854775807", "n", kLeast, kMost), kMost);
  EXPECT_EQ(parse_integer("-9223372036854775808", "n", kLeast, kMost), kLeast);
}

TEST(ParseInteger, TellsNoNumberFromOutOfRange) {
  for (const char* wrong : {"", "-", "2.5", "0x10", "1e3", "four", " 4"}) {
    EXPECT_EQ(error_of([&] { parse_integer(wrong, "n", 0, 9); }),
              "[n] must be a whole number, got '" + std::string(wrong) + "'");
  }
  for (const char* wrong : {"-1", "10", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_EQ(error_of([&] { parse_integer(wrong, "n", 0, 9); }),
              "[n] must be a whole number in the range 0 .. 9, got '" + std::string(wrong) + "'");
  }
  EXPECT_THAT(error_of([] { parse_integer("-9223372036854775809", "n", kLeast, kMost); }),
              HasSubstr("-2^63 .. 2^63 - 1"));
  const std::string endless(309, '9');
  EXPECT_LT(error_of([&] { parse_integer(endless, "n", 0, 9); }).size(), 120U);
}

TEST(ParsePositions, AreWholeUntilOneIsReal) {
  EXPECT_THAT(std::get<0>(parse_positions("0, 5,8..4..-2", "p")), ElementsAre(0, 5, 8, 6, 4));
  EXPECT_THAT(std::get<1>(parse_positions("0,1e3,-0.5", "p")), ElementsAre(0, 1000, -0.5));
  for (const char* wrong : {"", "nan", "1,,2", "1;2", "1,two"}) {
    EXPECT_EQ(
        error_of([&] { parse_positions(wrong, "p"); }),
        "[p] must be positions such as 0,5,20..30 or 10.5,20, got '" + std::string(wrong) + "'");
  }
}

TEST(ParsePair, IsTwoOfAKind) {
  EXPECT_EQ(parse_pair("2, 10", "p"), std::pair(std::int64_t{2}, std::int64_t{10}));
  EXPECT_EQ(error_of([] { parse_pair("2", "p"); }),
            "[p] must be two whole numbers such as 2,10, got 1 item");
  EXPECT_EQ(parse_pair("-1,4", "p", -1), std::pair(std::int64_t{-1}, std::int64_t{4}));
  EXPECT_EQ(error_of([] { parse_pair("4,-2", "p", -1); }),
            "[p] must be a whole number in the range -1 .. 2^63 - 1, got '-2'");
  EXPECT_EQ(parse_words("black, brown", "w"),
            std::pair(std::string("black"), std::string("brown")));
  EXPECT_THAT(error_of([] { parse_words("black,", "w"); }), HasSubstr("two words"));
}

TEST(ParseFinite, IsANumberAboveItsBound) {
  EXPECT_EQ(parse_finite("-0.5", "n"), -0.5);
  EXPECT_EQ(parse_finite("0", "n", 0), 0);
  EXPECT_EQ(error_of([] { parse_finite("-inf", "n"); }), "[n] must be finite, got '-inf'");
  EXPECT_EQ(error_of([] { parse_finite("nan", "n"); }), "[n] must be finite, got 'nan'");
  EXPECT_EQ(error_of([] { parse_finite("-1e-9", "n", 0); }),
            "[n] must be finite and >= 0, got '-1e-9'");
  EXPECT_EQ(error_of([] { parse_finite("0", "n", 0, true); }),
            "[n] must be finite and > 0, got '0'");
  EXPECT_THAT(error_of([] { parse_finite("1,5", "n"); }), HasSubstr("[n] "));
}

TEST(FormatOfPath, IsItsEndingInAnyCase) {
  constexpr Format kAllowed[] = {Format::text, Format::csv, Format::svg};
  EXPECT_EQ(format_of_path("a/b.SVG", kAllowed, "o"), Format::svg);
  EXPECT_EQ(error_of([&] { format_of_path("a.svg/b", kAllowed, "o"); }),
            "[o] must be a file that ends in .csv, .svg, got 'a.svg/b'");
}

TEST(Nearest, KnowsSwappedLettersAndWhatIsTooFar) {
  const std::vector<std::string_view> words = {"length", "width"};
  EXPECT_EQ(nearest("lenght", words), "length");
  EXPECT_EQ(nearest("zzzzzz", words), "");
}

TEST(Wrap, BreaksAtSpacesAndKeepsIndents) {
  EXPECT_EQ(wrap("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrap("  a\nb", 7), "  a\nb");
  EXPECT_EQ(wrap("a one,two,three b", 7), "a\none,\ntwo,\nthree b");
}

}  // namespace
}  // namespace sextant::app
