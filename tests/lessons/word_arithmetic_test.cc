// Sums of word vectors and what lies nearest to them.
#include "sextant/lessons/word_arithmetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

// Axes: royal, male, female.
WordVectors royals() {
  return WordVectors::parse(
      "king 1 1 0\nqueen 1 0 1\nboy 0 1 0\ngirl 0 0 1\nnothing 0 0 0\nking-size 5 5 -1\n");
}

TEST(WordArithmetic, KingMinusBoyPlusGirlIsQueen) {
  const WordVectors vectors = royals();
  const auto found = nearest_words(vectors, parse_word_sum("king - boy + girl"), 10);
  ASSERT_EQ(found.size(), 2u) << "the words of the sum and the zero vector are left out";
  EXPECT_EQ(found[0].word, "queen");
  EXPECT_EQ(found[0].similarity, 1);
  EXPECT_EQ(found[1].word, "king-size");
  EXPECT_NEAR(found[1].similarity, 4 / std::sqrt(2.0 * 51), 0x1p-52);
  EXPECT_EQ(nearest_words(vectors, parse_word_sum("king - boy + girl"), 1).size(), 1u);
}

TEST(WordArithmetic, SumsMayBeginWithASignAndWordsMayHaveOne) {
  const Tensor<double> sum = sum_of(royals(), parse_word_sum(" - boy +  king-size "));
  EXPECT_EQ(sum(0), 5);
  EXPECT_EQ(sum(1), 4);
  EXPECT_EQ(sum(2), -1);
}

TEST(WordArithmetic, TiesKeepTheOrderOfTheWords) {
  const WordVectors vectors = WordVectors::parse("b 2 0\na 1 0\nc 0 1\n");
  Tensor<double> axis(Shape{2});
  axis(0) = 3;
  const auto found = nearest_words(vectors, axis, 3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].word + found[1].word + found[2].word, "bac");
  EXPECT_EQ(found[2].similarity, 0);
}

TEST(WordArithmetic, RefusesWhatIsNoSum) {
  for (const char* text : {"", " ", "+", "king -", "king + - boy", "king boy"}) {
    EXPECT_THAT(error_of([&] { parse_word_sum(text, "w"); }), HasSubstr("[w] must")) << text;
  }
  EXPECT_NE(error_of([] { parse_word_sum("\xff"); }), "no error");
  const WordVectors vectors = royals();
  EXPECT_THAT(error_of([&] { nearest_words(vectors, parse_word_sum("king - kin"), 1); }),
              HasSubstr("kin"));
  EXPECT_THAT(error_of([&] { nearest_words(vectors, parse_word_sum("king - king"), 1); }),
              HasSubstr("no direction"));
  EXPECT_THAT(error_of([&] { nearest_words(vectors, parse_word_sum("king"), 0); }),
              HasSubstr("nearest_words.count"));
  EXPECT_THAT(error_of([&] { nearest_words(vectors, Tensor<double>(Shape{2}), 1); }),
              HasSubstr("must be [3]"));
}

}  // namespace
}  // namespace sextant
