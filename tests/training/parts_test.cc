// A step in parts has the sums of the whole step: dropout is a function of the token's place in the
// step, whatever batch it is in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "training/run_folders.h"
#include "training/small_tasks.h"

namespace sextant {
namespace {

constexpr std::int64_t kStep = 3;

struct Sums {
  LossSum loss;
  std::vector<std::vector<double>> gradients;  // one for each parameter
};

// In float64, where the order of the sums changes next to nothing.
template <class Model, class Task>
Sums sums_of(Task task, std::uint64_t seed) {
  Model model(task.model().config), gradient = zeros_like(model);
  Workspace memory;
  Sums sums;
  for (std::int64_t batch = 0; batch < task.batches(kStep); ++batch) {
    Pass pass{.memory = memory,
              .threads = 1,
              .dropout = 0.3,
              .random = {.seed = seed},
              .word_dropout = 0.2,
              .attention_dropout = 0.25};
    sums.loss.add(
        model.loss(task.training_batch(kStep, batch), {.label_smoothing = 0.1}, &gradient, pass));
  }
  for (const auto& each : gradient.parameters()) {
    sums.gradients.emplace_back(each.tensor->span().begin(), each.tensor->span().end());
  }
  return sums;
}

double largest(const std::vector<double>& a, const std::vector<double>& b = {}) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - (b.empty() ? 0 : b[i])));
  }
  return most;
}

// The order of some hundred float64 terms changes 1e-13 of the largest; another mask changes a
// tenth of it.
template <class Model, class Make>
void check_parts(const Make& make) {
  const Sums whole = sums_of<Model>(make(1), 7);
  for (const std::int64_t parts : {2, 4}) {
    const Sums sums = sums_of<Model>(make(parts), 7);
    EXPECT_EQ(sums.loss.tokens, whole.loss.tokens) << parts;
    EXPECT_EQ(sums.loss.correct, whole.loss.correct) << parts;
    EXPECT_NEAR(sums.loss.loss, whole.loss.loss, 1e-12 * whole.loss.loss) << parts;
    EXPECT_NEAR(sums.loss.smoothed, whole.loss.smoothed, 1e-12 * whole.loss.smoothed) << parts;
    for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
      EXPECT_LE(largest(sums.gradients[i], whole.gradients[i]), 1e-11 * largest(whole.gradients[i]))
          << parts << ", parameter " << i;
    }
  }
  const Sums other = sums_of<Model>(make(1), 8);
  for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
    EXPECT_GT(largest(other.gradients[i], whole.gradients[i]), 0.1 * largest(whole.gradients[i]))
        << i;
  }
}

TEST(Parts, OfALanguageModelHaveTheSameSumsWithDropout) {
  check_parts<LanguageModel<double>>(
      [](std::int64_t parts) { return language_task(ModelKind::causal, parts); });
}

TEST(Parts, OfAMaskedModelHaveTheSameSumsWithDropout) {
  check_parts<LanguageModel<double>>(
      [](std::int64_t parts) { return language_task(ModelKind::masked, parts); });
}

TEST(Parts, OfATranslatorHaveTheSameSumsWithDropout) {
  check_parts<Translator<double>>([](std::int64_t parts) { return translation_task(parts); });
}

using PartsOfARun = RunFolders;

StepMetrics last_metrics(TrainingTask& task, const TrainerOptions& options) {
  StepMetrics metrics;
  train(task, options, [&](const TrainingProgress& progress) { metrics = progress.metrics; });
  return metrics;
}

// In float32, through the loop: the first step has the same loss to the last digits of its float64
// sum, because no row depends on the batch it is in, and gradients to float32 rounding.
TEST_F(PartsOfARun, GiveTheSameFirstStep) {
  StepMetrics whole;
  for (const std::int64_t parts : {1, 2, 4}) {
    LanguageTask task = language_task(ModelKind::masked, parts);
    TrainerOptions options = toy_options(path(std::to_string(parts)));
    options.steps = 1;
    options.dropout = 0.3;
    options.word_dropout = 0.2;
    options.attention_dropout = 0.25;
    const StepMetrics metrics = last_metrics(task, options);
    if (parts == 1) whole = metrics;
    EXPECT_EQ(metrics.tokens, whole.tokens) << parts;
    EXPECT_NEAR(metrics.loss, whole.loss, 1e-12 * whole.loss) << parts;
    EXPECT_NEAR(metrics.gradient_norm, whole.gradient_norm, 1e-5 * whole.gradient_norm) << parts;
  }
}

TEST_F(PartsOfARun, DropAttentionWeightsAsTheSeedSays) {
  const auto first_loss = [&](double rate, std::uint64_t seed) {
    TranslationTask task = translation_task(2);
    TrainerOptions options = toy_options("");
    options.checkpoint_every = 0;
    options.steps = 1;
    options.seed = seed;
    options.dropout = 0;
    options.attention_dropout = rate;
    return last_metrics(task, options).loss;
  };
  EXPECT_EQ(first_loss(0, 1), first_loss(0, 2));
  EXPECT_NE(first_loss(0.5, 1), first_loss(0, 1));
  EXPECT_EQ(first_loss(0.5, 1), first_loss(0.5, 1));
  EXPECT_NE(first_loss(0.5, 1), first_loss(0.5, 2));
}

// More parts than sequences are as many as there are sequences.
TEST_F(PartsOfARun, MayBeMoreThanTheSequences) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    LanguageTask few = language_task(kind, 5), many = language_task(kind, 9);
    EXPECT_EQ(many.batches(kStep), 5);
    EXPECT_EQ(many.target_tokens(kStep), few.target_tokens(kStep));
    TrainerOptions options = toy_options(path(std::string(name_of(kind))));
    EXPECT_EQ(train(many, options).step, options.steps);
  }
}

// Of 2 tokens one in a hundred is chosen: most steps draw none.
TEST_F(PartsOfARun, AMaskedStepHasATargetEvenWhereNoneIsDrawn) {
  const std::string text = text_of(400);
  const Tokenizer tokenizer =
      Tokenizer::train(std::vector<std::string>{text}, {.kind = TokenizerKind::character});
  const auto tokens = tokenizer.encode(text);
  LanguageTask task(
      {tokenizer, tokens, tokens}, small(ModelKind::masked),
      {.length = 1, .batch_size = 2, .accumulation_steps = 2, .mask_probability = 0.01});
  std::int64_t first = 0;
  for (std::int64_t step = 0; step < 40; ++step) {
    EXPECT_GE(task.target_tokens(step), 1);
    std::int64_t targets = 0;
    for (std::int64_t part = 0; part < 2; ++part) {
      const TokenBatch batch = task.training_batch(step, part);
      ASSERT_EQ(batch.targets.size(), 1U);
      targets += batch.targets[0] >= 0;
      first += part == 0 && batch.targets[0] >= 0;
    }
    EXPECT_EQ(targets, task.target_tokens(step));
  }
  EXPECT_GT(first, 5);  // whichever token the numbers say, not always the same
  EXPECT_LT(first, 35);
  EXPECT_EQ(train(task, toy_options(path("run"))).step, 12);
}

}  // namespace
}  // namespace sextant
