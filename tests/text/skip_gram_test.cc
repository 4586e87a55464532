// Training of word vectors: that it learns, repeats itself, and refuses what cannot be trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sextant/text/word_vectors.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Sentences = std::vector<std::vector<std::string>>;

double cosine(const WordVectors& vectors, const std::string& a, const std::string& b) {
  const View<const float> x = vectors[a];
  const View<const float> y = vectors[b];
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    xy += double{x(i)} * double{y(i)};
    xx += double{x(i)} * double{x(i)};
    yy += double{y(i)} * double{y(i)};
  }
  return xy / std::sqrt(xx * yy);
}

bool same_bits(const WordVectors& a, const WordVectors& b) {
  return std::equal(a.words().begin(), a.words().end(), b.words().begin(), b.words().end()) &&
         std::equal(a.vectors().span().begin(), a.vectors().span().end(),
                    b.vectors().span().begin(), b.vectors().span().end());
}

// Two kinds of words that never share a neighbour: animals do one set of things, dishes another.
Sentences two_worlds() {
  const std::vector<std::vector<std::string>> kinds = {{"cat", "dog", "fox", "owl"},
                                                       {"soup", "bread", "salad", "cake"}};
  const std::vector<std::vector<std::string>> deeds = {{"runs", "sleeps", "hunts", "drinks"},
                                                       {"tastes", "smells", "cools", "bakes"}};
  const std::vector<std::vector<std::string>> ways = {{"quietly", "outside", "alone"},
                                                      {"sweetly", "warmly", "slowly"}};
  std::mt19937 generator(5);
  const auto any = [&](const std::vector<std::string>& words) {
    return words[generator() % words.size()];
  };
  Sentences sentences;
  for (std::size_t i = 0; i < 600; ++i) {
    sentences.push_back({any(kinds[i % 2]), any(deeds[i % 2]), any(ways[i % 2])});
  }
  return sentences;
}

const SkipGram kSmall = {.width = 16, .epochs = 10};

TEST(SkipGram, WordsThatShareNeighboursBecomeSimilar) {
  const WordVectors vectors = WordVectors::train(two_worlds(), {.width = 16, .epochs = 30});
  const std::vector<std::string> animals = {"cat", "dog", "fox", "owl"};
  const std::vector<std::string> dishes = {"soup", "bread", "salad", "cake"};
  double least_alike = 1;
  double most_alike = -1;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      if (i != j) least_alike = std::min(least_alike, cosine(vectors, animals[i], animals[j]));
      if (i != j) least_alike = std::min(least_alike, cosine(vectors, dishes[i], dishes[j]));
      most_alike = std::max(most_alike, cosine(vectors, animals[i], dishes[j]));
    }
  }
  EXPECT_GT(least_alike, most_alike);
}

TEST(SkipGram, SameSeedGivesTheSameBitsAndAnotherSeedOthers) {
  const Sentences sentences = two_worlds();
  SkipGram options = kSmall;
  const WordVectors first = WordVectors::train(sentences, options);
  EXPECT_TRUE(same_bits(first, WordVectors::train(sentences, options)));
  options.seed = 1;
  EXPECT_FALSE(same_bits(first, WordVectors::train(sentences, options)));
  options.seed = 4294967295u;
  EXPECT_NO_THROW(WordVectors::train(sentences, options));
}

TEST(SkipGram, EveryWordGetsAVectorOfItsOwn) {
  // One short sentence: no word is left at its start, or at zero.
  const Sentences sentence = {{"the", "black", "cat", "sat", "on", "the", "couch", "and", "the",
                               "brown", "dog", "slept", "on", "the", "rug", "."}};
  const WordVectors vectors = WordVectors::train(sentence, {.width = 512});
  EXPECT_EQ(vectors.width(), 512);
  EXPECT_THAT(vectors.words(), ElementsAre("the", "on", "black", "cat", "sat", "couch", "and",
                                           "brown", "dog", "slept", "rug", "."));
  std::set<std::vector<float>> different;
  for (const std::string& word : vectors.words()) {
    std::vector<float> row;
    for (std::int64_t i = 0; i < 512; ++i) row.push_back(vectors[word](i));
    EXPECT_LT(std::count(row.begin(), row.end(), 0.0f), 512) << word;
    different.insert(row);
  }
  EXPECT_EQ(different.size(), 12u);
}

TEST(SkipGram, RareWordsAreLeftOut) {
  const Sentences sentences = {{"a", "b", "a", "b", "rare"}, {"b"}, {}, {"a", "b"}};
  SkipGram options = kSmall;
  options.minimum_count = 2;
  EXPECT_THAT(WordVectors::train(sentences, options).words(), ElementsAre("b", "a"));
}

TEST(SkipGram, WordsMayHoldAnything) {
  const Sentences sentences = {{"</s>", "two words", "__label__x", "0", "line\nbreak"},
                               {std::string("\0", 1), "</s>", "0", "\u5B66\u751F"}};
  EXPECT_THAT(WordVectors::train(sentences, kSmall).words(),
              ElementsAre("</s>", "0", "two words", "__label__x", "line\nbreak",
                          std::string("\0", 1), "\u5B66\u751F"));
}

TEST(SkipGram, TextsTooSmallAreRefused) {
  EXPECT_THAT(error_of([] { WordVectors::train({}, kSmall); }),
              HasSubstr("[skip_gram.sentences] must hold at least two words"));
  const Sentences one = {{"a", "a", "a"}, {"a"}};
  EXPECT_THAT(error_of([&] { WordVectors::train(one, kSmall); }), HasSubstr("got 1"));
  SkipGram options = kSmall;
  options.minimum_count = 3;
  const Sentences rare = {{"a", "b", "a", "b"}};
  EXPECT_THAT(error_of([&] { WordVectors::train(rare, options); }),
              HasSubstr("3 times or more (minimum_count), got 0"));
  const Sentences empty = {{"a", ""}};
  EXPECT_THAT(error_of([&] { WordVectors::train(empty, kSmall); }), HasSubstr("empty word"));
  const Sentences bad = {{"a", "\xFF"}};
  EXPECT_THAT(error_of([&] { WordVectors::train(bad, kSmall); }), HasSubstr("must be UTF-8"));
}

TEST(SkipGram, OptionsOutOfRangeAreRefusedByName) {
  const Sentences sentences = {{"a", "b"}};
  const auto message = [&](auto change) {
    SkipGram options = kSmall;
    change(options);
    return error_of([&] { WordVectors::train(sentences, options); });
  };
  EXPECT_THAT(message([](SkipGram& o) { o.width = 0; }),
              HasSubstr("[skip_gram.width] must be 1 .. 2^16, got 0"));
  EXPECT_THAT(message([](SkipGram& o) { o.window = 0; }), HasSubstr("[skip_gram.window]"));
  EXPECT_THAT(message([](SkipGram& o) { o.minimum_count = 0; }),
              HasSubstr("[skip_gram.minimum_count]"));
  EXPECT_THAT(message([](SkipGram& o) { o.epochs = 0; }), HasSubstr("[skip_gram.epochs]"));
  EXPECT_THAT(message([](SkipGram& o) { o.negatives = -1; }), HasSubstr("[skip_gram.negatives]"));
  EXPECT_THAT(message([](SkipGram& o) { o.learning_rate = 0; }),
              HasSubstr("[skip_gram.learning_rate] must be above 0 and at most 1, got 0"));
  EXPECT_THAT(message([](SkipGram& o) { o.sample = std::numeric_limits<double>::quiet_NaN(); }),
              HasSubstr("[skip_gram.sample]"));
}

TEST(SkipGram, IsSilentAndLeavesNoFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::setenv("TMPDIR", folder.path().c_str(), 1), 0);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  WordVectors::train(two_worlds(), kSmall);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  ASSERT_EQ(::unsetenv("TMPDIR"), 0);
}

TEST(SkipGram, NeedsATemporaryFolder) {
  ASSERT_EQ(::setenv("TMPDIR", "/nowhere/at/all", 1), 0);
  EXPECT_THAT(error_of([] { WordVectors::train(two_worlds(), kSmall); }),
              HasSubstr("[skip_gram] needs a temporary folder"));
  ASSERT_EQ(::unsetenv("TMPDIR"), 0);
}

}  // namespace
}  // namespace sextant
