// What the last word gets is a sum over the words.
#include "sextant/lessons/last_word_sum.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

const std::vector<std::string> kFirst{"the", "dog", "bites", "the", "man", "."};
const std::vector<std::string> kSecond{"the", "man", "bites", "the", "dog", "."};

SentenceAttentionOptions with_scheme(const std::string& name) {
  SentenceAttentionOptions options{.width = 16, .heads = 2};
  if (name != "none") options.schemes = {name};
  return options;
}

double apart(const std::string& scheme) {
  const Tensor<double> a = running_sums(last_word_terms(kFirst, with_scheme(scheme)));
  const Tensor<double> b = running_sums(last_word_terms(kSecond, with_scheme(scheme)));
  double largest = 0;
  for (std::int64_t i = 0; i < 16; ++i) largest = std::max(largest, std::abs(a(6, i) - b(6, i)));
  return largest;
}

TEST(LastWordSum, TermsAddUpToTheOutputWithItsBias) {
  for (const std::string scheme : {"none", "rotary", "alibi"}) {
    SentenceAttentionOptions options = with_scheme(scheme);
    const Tensor<double> sums = running_sums(last_word_terms(kFirst, options));
    const Tensor<double> other = running_sums(last_word_terms(kSecond, options));
    options.causal = true;
    const SentenceAttention all = attend_sentences(kFirst, {}, options);
    const SentenceAttention all_other = attend_sentences(kSecond, {}, options);
    for (std::int64_t i = 0; i < 16; ++i) {
      // The bias is the same in both. Some hundred products of numbers below 10, in another order.
      EXPECT_NEAR(sums(6, i) - other(6, i), all.output(5, i) - all_other.output(5, i), 1e-12)
          << scheme;
    }
  }
}

TEST(LastWordSum, IsTheSameInAnyOrderOnlyWithoutPositions) {
  EXPECT_LT(apart("none"), 1e-13);
  EXPECT_GT(apart("sinusoidal"), 1e-3);
  EXPECT_GT(apart("rotary"), 1e-3);
}

TEST(LastWordSum, BeginsAtZeroAndTakesAStepPerWord) {
  Tensor<double> terms({2, 3});
  for (std::int64_t i = 0; i < 6; ++i) terms.data()[i] = static_cast<double>(i + 1);
  const Tensor<double> sums = running_sums(terms);
  ASSERT_EQ(sums.shape(), Shape({3, 3}));
  EXPECT_EQ(sums(0, 2), 0);
  EXPECT_EQ(sums(1, 2), 3);
  EXPECT_EQ(sums(2, 2), 9);
}

}  // namespace
}  // namespace sextant
