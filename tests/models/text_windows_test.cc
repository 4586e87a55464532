// Windows of a text: which tokens they score, and what each of them sees.
#include "sextant/models/text_windows.h"

#include <gtest/gtest.h>

#include <string>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using Tokens = std::vector<std::int64_t>;

LanguageModel<float> small(ModelKind kind = ModelKind::causal) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 11;
  config.width = 8;
  config.heads = 2;
  config.layers = 1;
  config.length = 6;
  config.schemes = {"alibi"};
  return LanguageModel<float>(config);
}

Tokens text_of(std::int64_t count) {
  Tokens tokens;
  for (std::int64_t i = 0; i < count; ++i) tokens.push_back((i * i + 3 * i) % 11);
  return tokens;
}

// The sum of -log likelihood of each token, given what the first window that predicts it shows.
double sum_of(LanguageModel<float>& model, const Tokens& tokens, std::int64_t length,
              std::int64_t stride) {
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  double sum = 0;
  for (std::int64_t target = 1; target < static_cast<std::int64_t>(tokens.size()); ++target) {
    std::int64_t begin = 0;
    while (begin + length < target) begin += stride;
    TokenBatch batch{{tokens.begin() + begin, tokens.begin() + target}, {0, target - begin}, {}};
    batch.targets.assign(batch.tokens.size(), -1);
    batch.targets.back() = tokens[static_cast<std::size_t>(target)];
    sum -= model.log_likelihoods(batch, pass)(target - begin - 1);
  }
  return sum;
}

TEST(TextLoss, ScoresEveryTokenButTheFirstOnce) {
  LanguageModel<float> model = small();
  for (const std::int64_t count : {2, 5, 7, 12, 13, 40}) {
    for (const std::int64_t stride : {1, 2, 5, 6}) {
      SCOPED_TRACE(std::to_string(count) + " tokens, stride " + std::to_string(stride));
      const Tokens tokens = text_of(count);
      const LossSum sum = text_loss(model, tokens, {.length = 6, .stride = stride, .threads = 1});
      EXPECT_EQ(sum.tokens, count - 1);
      // Sums of at most 40 float64 numbers below 10; a row's bits do not depend on its batch.
      EXPECT_NEAR(sum.loss, sum_of(model, tokens, 6, stride), 1e-12);
    }
  }
}

TEST(TextLoss, DoesNotDependOnBatches) {
  LanguageModel<float> model = small();
  const Tokens tokens = text_of(50);
  const LossSum whole = text_loss(model, tokens, {.stride = 2, .threads = 1});
  for (const std::int64_t batch_tokens : {1, 7, 30}) {
    const LossSum parts =
        text_loss(model, tokens, {.stride = 2, .batch_tokens = batch_tokens, .threads = 1});
    EXPECT_EQ(parts.tokens, whole.tokens);
    EXPECT_EQ(parts.correct, whole.correct);
    EXPECT_NEAR(parts.loss, whole.loss, 1e-12);  // 49 numbers below 10, added in another order
  }
}

TEST(TextLoss, TellsHowFarItIs) {
  LanguageModel<float> model = small();
  std::vector<std::int64_t> done;
  TextWindows windows{.batch_tokens = 12, .threads = 1};
  windows.progress = [&done](std::int64_t tokens, std::int64_t all) {
    done.push_back(tokens);
    EXPECT_EQ(all, 30);
  };
  text_loss(model, text_of(30), windows);
  EXPECT_EQ(done, (std::vector<std::int64_t>{13, 25, 30}));
}

TEST(TextLoss, RefusesWhatItCannotScore) {
  LanguageModel<float> causal = small(), masked = small(ModelKind::masked);
  EXPECT_THROW(text_loss(masked, text_of(9)), Error);
  EXPECT_THROW(text_loss(causal, text_of(1)), Error);
  EXPECT_THROW(text_loss(causal, text_of(9), {.length = 4, .stride = 5}), Error);
  EXPECT_THROW(text_loss(causal, text_of(9), {.length = -1}), Error);
}

TEST(WindowBatches, TargetsAreThoseThatCount) {
  const Tokens tokens = text_of(10);
  std::vector<TokenBatch> batches;
  WindowBatches windows(tokens, 6, [&](const TokenBatch& batch) { batches.push_back(batch); });
  windows.add(1, 4, 1);
  windows.add(3, 7, 5);
  windows.add(7, 9, 8);
  windows.finish();
  windows.finish();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].tokens,
            (Tokens{tokens[0], tokens[1], tokens[2], tokens[2], tokens[3], tokens[4], tokens[5]}));
  EXPECT_EQ(batches[0].targets,
            (Tokens{tokens[1], tokens[2], tokens[3], -1, -1, tokens[5], tokens[6]}));
  EXPECT_EQ(batches[0].segments, (Tokens{0, 3, 7}));
  EXPECT_EQ(batches[1].targets, (Tokens{-1, tokens[8]}));
}

}  // namespace
}  // namespace sextant
