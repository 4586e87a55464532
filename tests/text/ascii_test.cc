// The rules for ASCII beside ICU's for every text.
#include "text/ascii.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sextant/text/segment.h"

namespace sextant {
namespace {

// All of ASCII, marks that join words more often.
std::string random_text(std::mt19937& random) {
  constexpr std::string_view kOften = "ab1_.':,; \r\n-\"Z9";
  std::string text;
  for (auto length = random() % 12; length > 0; --length) {
    text +=
        random() % 4 == 0 ? static_cast<char>(random() % 128) : kOften[random() % kOften.size()];
  }
  return text;
}

TEST(Ascii, WordsAndLengthsAreThoseOfTheUnicodeRules) {
  std::mt19937 random(21);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = random_text(random);
    ASSERT_EQ(text::ascii_words(text), split_words(text)) << testing::PrintToString(text);
    ASSERT_EQ(text::ascii_length(text), visible_length(text)) << testing::PrintToString(text);
  }
}

TEST(Ascii, EveryPairAndTripleOfCharactersSplitsAsByTheUnicodeRules) {
  std::string text(3, ' ');
  for (int first = 0; first < 128; ++first) {
    for (int mark = 0; mark < 128; ++mark) {
      for (const char last : {'a', '1', '_', ' ', '.', '\n'}) {
        text = {static_cast<char>(first), static_cast<char>(mark), last};
        ASSERT_EQ(text::ascii_words(text), split_words(text)) << testing::PrintToString(text);
      }
    }
  }
}

TEST(Ascii, OtherTextsAreNone) {
  EXPECT_TRUE(text::is_ascii("\x7f"));
  EXPECT_FALSE(text::is_ascii("caf\u00e9"));
}

}  // namespace
}  // namespace sextant
