// Attention step by step: each step follows from the ones before it, and the last are those of
// attend_sentences().
#include "sextant/lessons/attention_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Step = AttentionStep;
using Words = std::vector<std::string>;

const Words kSentence{"the", "cat", "sat", "on", "the", "mat"};

SentenceAttentionOptions with_scheme(std::string_view name) {
  SentenceAttentionOptions options{.width = 16, .heads = 2};
  if (name != "none") options.schemes = {std::string(name)};
  return options;
}

double dot(const Tensor<double>& a, const Tensor<double>& b, std::int64_t head, std::int64_t i,
           std::int64_t j) {
  double sum = 0;
  for (std::int64_t c = 0; c < a.size(2); ++c) sum += a(head, i, c) * b(head, j, c);
  return sum;
}

TEST(AttentionSteps, EndInTheBitsOfAttendSentences) {
  for (const std::string scheme : {"none", "sinusoidal", "rotary", "alibi", "t5", "shaw"}) {
    SentenceAttentionOptions options = with_scheme(scheme);
    options.causal = true;
    options.softcap = 3;
    options.sinks = {0.5};
    options.hidden = {{3, 1}};
    const AttentionSteps steps = attention_steps(kSentence, {}, options);
    const SentenceAttention all = attend_sentences(kSentence, {}, options);
    for (std::int64_t i = 0; i < all.weights.count(); ++i) {
      EXPECT_EQ(steps[Step::weights].data()[i], all.weights.data()[i]) << scheme;
    }
    for (std::int64_t i = 0; i < all.output.count(); ++i) {
      EXPECT_EQ(steps[Step::output].data()[i], all.output.data()[i]) << scheme;
    }
  }
}

TEST(AttentionSteps, ScoresAreScaledProductsOfQAndK) {
  SentenceAttentionOptions options = with_scheme("rotary");
  options.temperature = 0.5;
  const AttentionSteps steps = attention_steps(kSentence, {"a", "dog"}, options);
  const Tensor<double>&q = steps[Step::rotated_q], &k = steps[Step::rotated_k];
  ASSERT_EQ(q.shape(), Shape({2, 6, 8}));
  ASSERT_EQ(k.shape(), Shape({2, 2, 8}));
  for (std::int64_t i = 0; i < 6; ++i) {
    // Eight products of numbers of a few units, in another order.
    EXPECT_NEAR(steps[Step::scores](1, i, 1), dot(q, k, 1, i, 1) * 2 / std::sqrt(8.0), 1e-13);
  }
  EXPECT_EQ(q(0, 0, 3), steps[Step::q](0, 0, 3));  // position 0
  EXPECT_NE(q(0, 1, 0), steps[Step::q](0, 1, 0));
}

TEST(AttentionSteps, WeightsAreTheSoftmaxOfWhatItGetsAndMixValues) {
  SentenceAttentionOptions options = with_scheme("alibi");
  options.sinks = {1, -1};
  options.window = {.left = 2, .right = 1};
  options.hidden = {{-1, 4}, {0, 0}};
  const AttentionSteps steps = attention_steps(kSentence, {}, options);
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t i = 0; i < 6; ++i) {
      double sum = std::exp(options.sinks[static_cast<std::size_t>(head)]);
      for (std::int64_t j = 0; j < 6; ++j) {
        const bool hidden = j < i - 2 || j > i + 1 || j == 4 || (i == 0 && j == 0);
        EXPECT_EQ(steps[Step::biased](head, i, j) == -HUGE_VAL, hidden) << i << " " << j;
        sum += std::exp(steps[Step::biased](head, i, j));
      }
      double mixed = 0;
      for (std::int64_t j = 0; j < 6; ++j) {
        const double weight = std::exp(steps[Step::biased](head, i, j)) / sum;
        EXPECT_NEAR(steps[Step::weights](head, i, j), weight, 1e-14);
        mixed += weight * steps[Step::v](head, j, 3);
      }
      EXPECT_NEAR(steps[Step::mixed](head, i, 3), mixed, 1e-13);
    }
  }
}

TEST(AttentionSteps, SayWhatASchemeAddsBeforeTheSoftmax) {
  SentenceAttentionOptions options = with_scheme("alibi");
  options.softcap = 2;  // which is left out
  const AttentionSteps alibi = attention_steps(kSentence, {}, options);
  // Slopes of two heads: 2^-4 and 2^-8 (Press et al. 2022).
  EXPECT_NEAR(alibi[Step::from_positions](0, 5, 1), -4 * 0.0625, 1e-13);
  EXPECT_NEAR(alibi[Step::from_positions](1, 5, 1), -4 * 0.00390625, 1e-13);
  const AttentionSteps none = attention_steps(kSentence, {}, with_scheme("none"));
  for (const double value : none[Step::from_positions].span()) EXPECT_EQ(value, 0);
  const AttentionSteps rotary = attention_steps(kSentence, {}, with_scheme("rotary"));
  EXPECT_NEAR(rotary[Step::from_positions](0, 2, 2), 0, 1e-13);  // distance 0: no turn
  EXPECT_GT(std::abs(rotary[Step::from_positions](0, 2, 0)), 1e-3);
}

TEST(AttentionSteps, AddedPositionsAreTheTable) {
  const AttentionSteps steps = attention_steps(kSentence, {"a", "b"}, with_scheme("sinusoidal"));
  const Tensor<double> table = sinusoidal<double>({.length = 6, .width = 16});
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(steps[Step::positions](i, 5), table(i, 5), 1e-15);
    EXPECT_EQ(steps[Step::inputs](i, 5), steps[Step::embeddings](i, 5) + table(i, 5));
  }
  EXPECT_EQ(steps[Step::key_inputs].shape(), Shape({2, 16}));
}

TEST(AttentionSteps, MatricesMakeQKVAndTheOutput) {
  const AttentionSteps steps = attention_steps(kSentence, {"a", "dog"}, with_scheme("sinusoidal"));
  // Row `out` of a matrix times a row of its input and the bias: 16 products, in another order.
  const auto product = [&](Step matrix, Step input, std::int64_t row, std::int64_t out) {
    double sum = steps[matrix](out, 16);
    for (std::int64_t c = 0; c < 16; ++c) sum += steps[matrix](out, c) * steps[input](row, c);
    return sum;
  };
  ASSERT_EQ(steps[Step::w_q].shape(), Shape({16, 17}));
  for (std::int64_t out = 0; out < 16; ++out) {
    const std::int64_t head = out / 8, channel = out % 8;
    EXPECT_NEAR(steps[Step::q](head, 3, channel), product(Step::w_q, Step::inputs, 3, out), 1e-13);
    EXPECT_NEAR(steps[Step::k](head, 1, channel), product(Step::w_k, Step::key_inputs, 1, out),
                1e-13);
    EXPECT_NEAR(steps[Step::v](head, 1, channel), product(Step::w_v, Step::key_inputs, 1, out),
                1e-13);
    double sum = steps[Step::w_out](out, 16);
    for (std::int64_t c = 0; c < 16; ++c) {
      sum += steps[Step::w_out](out, c) * steps[Step::mixed](c / 8, 3, c % 8);
    }
    EXPECT_NEAR(steps[Step::output](3, out), sum, 1e-13);
  }
}

TEST(AttentionSteps, HideAWholeRowAndLeaveZeros) {
  SentenceAttentionOptions options = with_scheme("none");
  options.hidden = {{2, -1}};
  const AttentionSteps steps = attention_steps(kSentence, {}, options);
  for (std::int64_t j = 0; j < 6; ++j) EXPECT_EQ(steps[Step::weights](0, 2, j), 0);
  EXPECT_EQ(steps[Step::mixed](0, 2, 0), 0);
}

TEST(AttentionSteps, RefuseWhatDoesNotFit) {
  const auto refuses = [](const SentenceAttentionOptions& options, const std::string& problem) {
    EXPECT_THAT([&] { attention_steps(kSentence, {}, options); },
                ThrowsMessage<Error>(HasSubstr(problem)));
  };
  SentenceAttentionOptions options = with_scheme("none");
  options.temperature = 0;
  refuses(options, "[attend_sentences.temperature] must be finite and above 0, got 0");
  options = with_scheme("none");
  options.sinks = {1, 2, 3};
  refuses(options, "[attend_sentences.sinks] must be one number, or one per head, 2, got 3");
  options = with_scheme("none");
  options.hidden = {{6, 0}};
  refuses(options, "must be pairs of a query below 6 and a key below 6, got 6:0");
}

TEST(AttentionSteps, HaveNamesAndMeanings) {
  EXPECT_EQ(names_of<Step>().size(), kAttentionSteps);
  for (std::size_t i = 0; i < kAttentionSteps; ++i) {
    EXPECT_NE(meaning_of(static_cast<Step>(i)), "unknown") << i;
  }
}

}  // namespace
}  // namespace sextant
