// Which two words the report swaps.
#include "figures/report/natural_swap.h"

#include <gtest/gtest.h>

#include "sextant/text/segment.h"

namespace sextant::figures {
namespace {

std::string swapped_text(const std::string& text) {
  const std::vector<std::string> tokens = split_words(lower_case(text));
  const auto swap = natural_swap(tokens);
  return swap ? sentence_of(swapped(tokens, *swap)) : "";
}

TEST(NaturalSwap, SubjectsChangePlaces) {
  EXPECT_EQ(swapped_text("The black cat sat on the couch and the brown dog slept on the rug."),
            "the black dog sat on the couch and the brown cat slept on the rug.");
  EXPECT_EQ(swapped_text("The zebra chased the lion."), "the lion chased the zebra.");
  EXPECT_EQ(swapped_text("The quick brown fox jumps over the lazy dog."),
            "the quick brown dog jumps over the lazy fox.");
  EXPECT_EQ(swapped_text("My sister taught his brother."), "my brother taught his sister.");
}

TEST(NaturalSwap, WordsWithoutAnArticleAroundAVerb) {
  EXPECT_EQ(swapped_text("Dog bites man!"), "man bites dog!");
}

TEST(NaturalSwap, OtherwiseTheTwoLongestWords) {
  EXPECT_EQ(swapped_text("Der schwarze Hund schläft heute."), "der schläft hund schwarze heute.");
  EXPECT_EQ(swapped_text("one fish, two birds."), "one birds, two fish.");
}

TEST(NaturalSwap, NeverTheLastTokenAndNeverTheSameWord) {
  EXPECT_EQ(swapped_text("hello"), "");
  EXPECT_EQ(swapped_text("hello world"), "");  // one word is left before the last
  EXPECT_EQ(swapped_text("no no no ."), "");
  EXPECT_EQ(swapped_text("the cat saw the cat ."), "the saw cat the cat.");
  EXPECT_EQ(swapped_text("the dog met the cat"), "the met dog the cat");
}

TEST(NaturalSwap, NamedWordsStandWhereTheyAreFirst) {
  const std::vector<std::string> tokens = {"a", "b", "a", "c", "d"};
  EXPECT_EQ(swap_of(tokens, "c", "a"), (Swap{0, 3}));
  EXPECT_FALSE(swap_of(tokens, "a", "d"));  // the last token
  EXPECT_FALSE(swap_of(tokens, "a", "x"));
  EXPECT_FALSE(swap_of(tokens, "a", "a"));
  EXPECT_FALSE(swap_of({}, "a", "b"));
}

TEST(NaturalSwap, MarksAreNoWords) {
  for (const char* mark : {".", "!", "—", "。", "(", "¿"}) EXPECT_FALSE(is_word(mark)) << mark;
  for (const char* word : {"a", "7", "ß", "猫", "don't"}) EXPECT_TRUE(is_word(word)) << word;
}

TEST(NaturalSwap, JoinedTextHasNoSpaceBeforeMarks) {
  EXPECT_EQ(sentence_of({"he", "said", "(", "twice", ")", ",", "\"", "no", "\"", "."}),
            "he said (twice), \" no \".");
}

}  // namespace
}  // namespace sextant::figures
