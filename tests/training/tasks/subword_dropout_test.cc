// Sub-words that are split anew: the text stays, equal pieces stay equal, the parts are as asked.
#include "sextant/training/tasks/subword_dropout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using Ids = std::vector<std::int64_t>;

const std::string kText =
    "The travellers answered the king.\nThe travellers travelled, answering the king.\n"
    "The king answered the traveller, the traveller answers.\n";

Tokenizer pieces() {
  return Tokenizer::train(std::vector<std::string>{kText},
                          {.kind = TokenizerKind::subword, .vocabulary_size = 50});
}

std::string complaint(const Tokenizer& tokenizer, double part) {
  return error_of([&] { SubwordDropout(tokenizer, part); });
}

TEST(SubwordDropout, KeepsTheTextAndTheSpecialTokens) {
  const Tokenizer tokenizer = pieces();
  const Ids ids = tokenizer.encode(kText);
  for (const double part : {0.2, 0.9}) {
    const SubwordDropout dropout(tokenizer, part);
    std::set<Ids> different;
    for (std::uint64_t key = 0; key < 20; ++key) {
      const Ids split = dropout(ids, key);
      different.insert(split);
      EXPECT_EQ(tokenizer.decode(split), tokenizer.decode(ids));
      EXPECT_EQ(split, dropout(ids, key));
      EXPECT_GE(split.size(), ids.size());
    }
    EXPECT_GT(different.size(), 2U);
    const Ids special = {0, 1, 2, 3, 4, 4, 3};  // the line break is 4
    EXPECT_EQ(dropout(special, 7), special);
  }
  EXPECT_EQ(SubwordDropout(tokenizer, 0)(ids, 3), ids);
}

TEST(SubwordDropout, SplitsEqualPiecesAlikeWithinOneKey) {
  const Tokenizer tokenizer = pieces();
  const SubwordDropout dropout(tokenizer, 0.5);
  const Ids all = tokenizer.encode(kText);
  for (std::uint64_t key = 0; key < 10; ++key) {
    Ids one_by_one;
    for (const std::int64_t id : all) {
      const Ids alone = dropout(std::vector{id}, key);
      one_by_one.insert(one_by_one.end(), alone.begin(), alone.end());
    }
    EXPECT_EQ(dropout(all, key), one_by_one);
  }
}

TEST(SubwordDropout, SplitsThePartThatIsAskedFor) {
  const Tokenizer tokenizer = pieces();
  std::int64_t longest = 4;
  for (std::int64_t id = 5; id < tokenizer.size(); ++id) {
    if (tokenizer.piece(id).size() > tokenizer.piece(longest).size()) longest = id;
  }
  ASSERT_GT(tokenizer.piece(longest).size(), 4U);
  constexpr int kKeys = 4000;
  for (const double part : {0.1, 0.6}) {
    const SubwordDropout dropout(tokenizer, part);
    int split = 0;
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      split += dropout(std::vector{longest}, key).size() > 1;
    }
    // Five deviations of a binomial count.
    EXPECT_NEAR(split, kKeys * part, 5 * std::sqrt(kKeys * part * (1 - part)));
  }
}

TEST(SubwordDropout, RefusesOtherTokensAndParts) {
  const Tokenizer tokenizer = pieces();
  EXPECT_THAT(complaint(tokenizer, 1), HasSubstr("must be at least 0 and below 1, got 1"));
  EXPECT_THAT(complaint(tokenizer, -0.1), HasSubstr("must be at least 0 and below 1, got -0.1"));
  EXPECT_THAT(complaint(tokenizer, std::nan("")), HasSubstr("must be at least 0"));
  const Tokenizer words = Tokenizer::train(std::vector<std::string>{kText});
  EXPECT_THAT(complaint(words, 0.1),
              HasSubstr("[subword_dropout.part] must be 0 for tokens that are not sub-words"));
  EXPECT_EQ(complaint(words, 0), "no error");
}

}  // namespace
}  // namespace sextant
