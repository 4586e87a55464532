// A text as sentences of words, and where words stand in it.
#include "sextant/text/word_text.h"

#include <gtest/gtest.h>

#include <string>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using Places = std::pair<std::int64_t, std::int64_t>;

TEST(WordText, SentencesAreLowerCasedWordsAndMarks) {
  const WordText text = WordText::parse("The King came.\nHe went!", "text");
  ASSERT_EQ(text.sentences.size(), 2u);
  EXPECT_EQ(text.sentences[0], (std::vector<std::string>{"the", "king", "came", "."}));
  EXPECT_EQ(text.word_count(), 7);
}

TEST(WordText, PlacesAreOfTheFirstSentenceThatHasBothWords) {
  const WordText text = WordText::parse("A king came. The queen saw a king. A queen.", "text");
  EXPECT_EQ(text.places("king", "queen", "text"), Places(4, 1));
  EXPECT_EQ(text.places("came", "queen", "text"), Places(2, 1)) << "no sentence has both";
}

TEST(WordText, AWordTwiceIsAtItsFirstTwoPlaces) {
  EXPECT_EQ(WordText::parse("So it was. To be or not to be.", "text").places("be", "be", "text"),
            Places(1, 5));
  EXPECT_EQ(WordText::parse("Only once here.", "text").places("once", "once", "text"),
            Places(1, 1));
}

TEST(WordText, SaysWhatItDoesNotHave) {
  const WordText text = WordText::parse("One word.", "text");
  EXPECT_THROW(text.places("one", "two", "text"), Error);
  EXPECT_THROW(WordText::parse(" \n ", "text"), Error);
  EXPECT_THROW(WordText::parse("\xff", "text"), Error);
}

}  // namespace
}  // namespace sextant
