// Expressions of Oniguruma in the words of ICU and of JavaScript.
#include "text/pretrained/patterns/pattern_syntax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/json/json.h"
#include "support/error_of.h"

namespace sextant::text {
namespace {

std::string in_icu(const std::string& pattern) {
  const Json json(pattern);
  return icu_pattern(pattern, Field(json, "t.json", "Regex"));
}

std::string in_javascript(const std::string& pattern) {
  const Json json(pattern);
  return javascript_pattern(pattern, Field(json, "t.json", "Regex"));
}

TEST(PatternSyntax, CommonPartsStayAsTheyAre) {
  const std::string gpt2 = R"('s|'ll| ?\p{L}+|[^a-z\-\n]{2,3}?|(?:ab)*|(?=c)(?i:'S))";
  EXPECT_EQ(in_icu(gpt2), gpt2);
  EXPECT_EQ(in_javascript(gpt2), gpt2);
}

TEST(PatternSyntax, ClassesOfJavaScriptAreThoseOfUnicode) {
  EXPECT_EQ(in_javascript(R"(\s+(?!\S)|[\s\d]\D)"),
            R"(\p{White_Space}+(?!\P{White_Space})|[\p{White_Space}\p{Nd}]\P{Nd})");
  EXPECT_EQ(in_javascript(R"(\pL\p{Han}\x41\x{1F600}\a\e\v)"),
            R"(\p{L}\p{Han}\x41\u{1F600}\x07\x1b\x0b)");
}

TEST(PatternSyntax, LinesEndAsInOniguruma) {
  EXPECT_EQ(in_icu("^a$."), R"((?:\A|(?<=\n)(?!\z))a(?=\n|\z)[^\n])");
  EXPECT_EQ(in_javascript("^a$."), R"((?:(?<![^])|(?<=\n)(?!(?![^])))a(?=\n|(?![^]))[^\n])");
  EXPECT_EQ(in_javascript(R"(\Aa\z)"), "(?<![^])a(?![^])");
}

TEST(PatternSyntax, WhatTakesAllOrNothingIsAReferenceInJavaScript) {
  EXPECT_EQ(in_icu(R"(\p{L}++)"), R"(\p{L}++)");
  EXPECT_EQ(in_javascript(R"(a\p{L}++b)"), R"(a(?:(?=(?<atom1>\p{L}+))\k<atom1>)b)");
  EXPECT_EQ(in_javascript("[ab]?+c"), "(?:(?=(?<atom1>[ab]?))\\k<atom1>)c");
  EXPECT_EQ(in_javascript("(a(b))*+"), "(?:(?=(?<atom1>(a(b))*))\\k<atom1>)");
  EXPECT_EQ(in_javascript("x(?>ab)"), "x(?:(?=(?<atom1>(?:ab)))\\k<atom1>)");
  EXPECT_EQ(in_javascript("\u00e9*+"), "(?:(?=(?<atom1>\u00e9*))\\k<atom1>)");
  EXPECT_THAT(error_of([] { in_javascript("(?<=a++)b"); }), testing::HasSubstr("(?> or possess"));
}

TEST(PatternSyntax, AnOptionEndsWithItsGroup) {
  EXPECT_EQ(in_icu("(?i)a|b"), "(?i:a|b)");
  EXPECT_EQ(in_javascript("(a(?i)b|c)d"), "(a(?i:b|c))d");
}

TEST(PatternSyntax, JavaScriptHasABackslashOnlyWhereItIsNeeded) {
  EXPECT_EQ(in_javascript(R"(\'\-\.\/[\-\'\]])"), R"('-\.\/[\-'\]])");
  EXPECT_EQ(in_javascript("]{a}{,3}x{2}"), R"(\]\{a\}{0,3}x{2})");
}

}  // namespace
}  // namespace sextant::text
