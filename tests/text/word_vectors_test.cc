// The .vec format: exact round trips, files of other programs, and every fault.
#include "sextant/text/word_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
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
using ::testing::Not;

Tensor<float> tensor(const Shape& shape, const std::vector<float>& values) {
  Tensor<float> result(shape);
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

std::vector<float> values(View<const float> view) {
  std::vector<float> result;
  for (std::int64_t i = 0; i < view.size(0); ++i) result.push_back(view(i));
  return result;
}

TEST(WordVectors, AreFoundByTheirWord) {
  const WordVectors vectors({"black", "brown"}, tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(vectors.width(), 3);
  EXPECT_THAT(values(vectors["brown"]), ElementsAre(4, 5, 6));
  EXPECT_TRUE(vectors.contains("black"));
  EXPECT_FALSE(vectors.contains("Black"));
}

TEST(WordVectors, MissingWordSuggestsTheNearestSpelling) {
  const WordVectors vectors({"black", "brown"}, tensor({2, 1}, {1, 2}));
  EXPECT_EQ(error_of([&] { vectors["brwn"]; }),
            "[word_vectors] 'brwn' has no vector among 2 words; the nearest spelling is "
            "'brown'");
  EXPECT_EQ(error_of([&] { vectors["zebra"]; }),
            "[word_vectors] 'zebra' has no vector among 2 words");
  EXPECT_THAT(error_of([&] { vectors["a\nb"]; }), Not(HasSubstr("\n")));
}

TEST(WordVectors, RefuseWordsAndVectorsThatDoNotFit) {
  EXPECT_THAT(error_of([] {
                WordVectors({"a"}, tensor({2, 1}, {1, 2}));
              }),
              HasSubstr("must be [1, width], got [2, 1]"));
  EXPECT_THAT(error_of([] { WordVectors({"a"}, tensor({1}, {1})); }), HasSubstr("got [1]"));
  EXPECT_THAT(error_of([] { WordVectors({"a"}, Tensor<float>({1, 0})); }), HasSubstr("got [1, 0]"));
  EXPECT_THAT(error_of([] {
                WordVectors({}, Tensor<float>({0, 3}));
              }),
              HasSubstr("at least one word"));
  EXPECT_THAT(error_of([] {
                WordVectors({"a", "a"}, tensor({2, 1}, {1, 2}));
              }),
              HasSubstr("every word once, got 'a'"));
  EXPECT_THAT(error_of([] { WordVectors({""}, tensor({1, 1}, {1})); }), HasSubstr("empty word"));
  EXPECT_THAT(error_of([] {
                WordVectors({"\xFF"}, tensor({1, 1}, {1}));
              }),
              HasSubstr("must be UTF-8"));
  EXPECT_THAT(error_of([] {
                WordVectors({"a"}, tensor({1, 1}, {NAN}));
              }),
              HasSubstr("must be finite, got nan"));
}

TEST(VecFile, BringsBackEveryBit) {
  // Random bit patterns: every exponent, denormal numbers, both zeros.
  std::mt19937 generator(11);
  std::vector<float> numbers = {
      0.0f, -0.0f,      std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(),
      0.1f, 16777216.0f};
  while (numbers.size() < 3000) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(generator()));
    if (std::isfinite(value)) numbers.push_back(value);
  }
  const WordVectors saved({"a", "\u5B66", "don't"}, tensor({3, 1000}, numbers));
  const TemporaryFolder folder;
  const std::string path = folder / "words.vec";
  saved.save(path);
  const WordVectors loaded = WordVectors::load(path);
  EXPECT_THAT(loaded.words(), ElementsAre("a", "\u5B66", "don't"));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(loaded.vectors().span()[i]),
              std::bit_cast<std::uint32_t>(numbers[i]))
        << numbers[i];
  }
  EXPECT_EQ(read_file(path).substr(0, 7), "3 1000\n");
  EXPECT_THROW(WordVectors::load(folder / "missing.vec"), Error);
}

TEST(VecFile, OfOtherProgramsIsRead) {
  const std::string fast_text = "2 3\nthe 0.25 -1e-05 3 \n</s> 1 2 3 \n";
  EXPECT_THAT(values(WordVectors::parse(fast_text)["the"]), ElementsAre(0.25f, -1e-5f, 3));
  const std::string windows = "2 1\r\na 1\r\nb 2\r\n\r\n";
  EXPECT_THAT(values(WordVectors::parse(windows)["b"]), ElementsAre(2));
  const std::string glove = "the 0.5 1\nof 2 3\n, 4 5";
  const WordVectors vectors = WordVectors::parse(glove);
  EXPECT_THAT(vectors.words(), ElementsAre("the", "of", ","));
  EXPECT_THAT(values(vectors[","]), ElementsAre(4, 5));
  const std::string no_break_space = "a\u00A0b 1 2\nc\t3\t4\n\n";
  EXPECT_THAT(values(WordVectors::parse(no_break_space)["a\u00A0b"]), ElementsAre(1, 2));
}

TEST(VecFile, EveryFaultHasItsOwnError) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "must hold word vectors, got nothing"},
      {"\n", "at least one number per word"},
      {"word\n", "at least one number per word, got 0"},
      {"1 0\nword\n", "at least one number per word, got 0"},
      {"0 5\n", "at least one word, got a count of 0"},
      {"9 9\na 1\n",
       "long enough for the count and width of its first line, got 8 bytes for 9 words of 9"},
      {"4611686018427387904 2\na 1 2\n", "long enough"},
      {"1 4611686018427387904\na 1 2\n", "long enough"},
      {"3037000500 3037000500\na 1\n", "long enough"},
      {"99999999999999999999 2\na 1 2\n", "must be an integer from"},
      {"2 1\na 1.000000\n", "must hold 2 words, got 1"},
      {"1 1\na 1\nb 2\n", "line 3 must be the end: 1 words were announced"},
      {"1 2\na 1   \n", "line 2 must have a word and 2 numbers, got 2 fields"},
      {"a 1 2\nb 1 2 3\n", "line 2 must have a word and 2 numbers, got 4 fields"},
      {"2 1\n\na 1\n", "line 2 must begin with a word"},
      {"1 1\n  1 2\n", "line 2 must begin with a word"},
      {"2 1\na 1\na 2\n", "line 3 must have a new word, got 'a' as in line 2"},
      {"1 1\na x\n", "line 2 must have a number in the range of float32, got 'x'"},
      {"1 1\na 1e999\n", "in the range of float32, got '1e999'"},
      {"1 1\na 3.4028236e38\n", "finite float32 numbers"},
      {"1 1\na 1e39\n", "finite float32 numbers, got '1e39'"},
      {"1 1\na nan\n", "finite float32 numbers, got 'nan'"},
      {"1 1\na -inf\n", "finite float32 numbers, got '-inf'"},
      {"1 1\na\xFF 1\n", "must be UTF-8, got byte 0xff at offset 5"},
  };
  for (const auto& [text, message] : faults) {
    const std::string bytes = text;
    const std::string error = error_of([&] { WordVectors::parse(bytes, "x.vec"); });
    EXPECT_THAT(error, HasSubstr(message)) << bytes;
    EXPECT_THAT(error, HasSubstr("[x.vec] ")) << bytes;
  }
}

TEST(VecFile, CannotHoldWordsWithWhiteSpace) {
  const TemporaryFolder folder;
  const std::string path = folder / "words.vec";
  for (const std::string& word : {std::string("a b"), std::string("a\n"), std::string("\0", 1)}) {
    const WordVectors vectors({word}, tensor({1, 1}, {1}));
    EXPECT_THAT(error_of([&] { vectors.save(path); }), HasSubstr("must not hold white space"));
  }
  EXPECT_THROW(read_file(path), Error);  // nothing was written
}

}  // namespace
}  // namespace sextant
