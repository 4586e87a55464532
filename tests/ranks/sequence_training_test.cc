// Training on sequences that ranks hold a part of each, beside one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ranks/training/context_parallel.h"
#include "ranks/world.h"
#include "sextant/ranks/agreement.h"
#include "sextant/ranks/training.h"
#include "sextant/schemes/scheme.h"
#include "training/run_folders.h"
#include "training/small_tasks.h"

namespace sextant::ranks::sequence_training_test {
namespace {

using ::testing::HasSubstr;

TransformerConfig config_with(const std::string& scheme, ModelKind kind = ModelKind::causal) {
  TransformerConfig config = small(kind);
  config.vocabulary = 13;
  config.width = 24;
  config.heads = 4;
  config.length = 64;
  config.schemes = SchemeSpecs{{scheme, {}}};
  return config;
}

// Sequences of one length, whose every third token is no target.
TokenBatch batch_of(std::int64_t sequences, std::int64_t length) {
  TokenBatch batch{.segments = {0}, .first_row = 5};
  for (std::int64_t i = 0; i < sequences * length; ++i) {
    batch.tokens.push_back((i * i + 3 * i) % 13);
    batch.targets.push_back(i % 3 == 2 ? -1 : (i * 7 + 1) % 13);
    if ((i + 1) % length == 0) batch.segments.push_back(i + 1);
  }
  return batch;
}

struct Gradients {
  LossSum loss;
  std::vector<std::vector<double>> of;  // each parameter
};

template <class T>
Gradients gradients_of(const LanguageModel<T>& model, const TokenBatch& batch, double dropout,
                       ContextParallel* divided) {
  LanguageModel<T> gradient = zeros_like<LanguageModel<T>>(model);
  Workspace memory;
  Pass pass{.memory = memory,
            .threads = 1,
            .dropout = dropout,
            .random = {.seed = 7},
            .word_dropout = dropout / 2,
            .context_parallel = divided};
  Gradients result;
  result.loss = model.loss(batch, {.label_smoothing = 0.1, .scale = 0.1}, &gradient, pass);
  for (const auto& each : gradient.parameters()) {
    result.of.emplace_back(each.tensor->span().begin(), each.tensor->span().end());
  }
  return result;
}

double root_of_squares(const std::vector<double>& a, const std::vector<double>* b = nullptr) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = b != nullptr ? a[i] - (*b)[i] : a[i];
    sum += x * x;
  }
  return std::sqrt(sum);
}

// The sums over the ranks are as near to float64 as one process is. What joining adds: for each
// rank the error of a log-sum-exp of up to 4, relative to the gradient.
void expect_as_one_process(const TransformerConfig& config, const TokenBatch& batch,
                           double dropout = 0) {
  SCOPED_TRACE(label_of(config.schemes));
  const LanguageModel<float> model(config);
  LanguageModel<double> exact(config);
  for (std::size_t i = 0; const auto& each : exact.parameters()) {
    const auto from = model.parameters()[i++].tensor->span();
    std::ranges::copy(from, each.tensor->span().begin());
  }
  const Gradients truth = gradients_of(exact, batch, dropout, nullptr);
  const Gradients whole = gradients_of(model, batch, dropout, nullptr);
  RanksContextParallel sequence(world().duplicate());
  Gradients here = gradients_of(model, batch, dropout, &sequence);

  double sums[] = {here.loss.loss, here.loss.smoothed};
  std::int64_t counts[] = {here.loss.tokens, here.loss.correct};
  world().all_reduce(std::span<double>(sums));
  world().all_reduce(std::span<std::int64_t>(counts));
  EXPECT_EQ(counts[0], truth.loss.tokens);
  EXPECT_EQ(counts[1], whole.loss.correct);
  EXPECT_NEAR(sums[0], truth.loss.loss, 2 * std::abs(whole.loss.loss - truth.loss.loss) + 1e-4);
  EXPECT_NEAR(sums[1], truth.loss.smoothed, 1e-4 * truth.loss.smoothed);

  const auto names = exact.parameters();
  for (std::size_t i = 0; i < here.of.size(); ++i) {
    world().all_reduce(std::span(here.of[i]));
    const double size = root_of_squares(truth.of[i]);
    EXPECT_LE(
        root_of_squares(here.of[i], &truth.of[i]),
        2 * root_of_squares(whole.of[i], &truth.of[i]) + world().size() * 5 * std::exp2(-23) * size)
        << names[i].name << " of size " << size;
  }
}

TEST(ContextParallelTraining, HaveTheGradientsOfOneProcessWithEveryScheme) {
  std::vector<std::string> not_in_models;
  for (const Scheme* scheme : schemes()) {
    const std::string name(scheme->name);
    try {
      const LanguageModel<float> model(config_with(name));
    } catch (const Error&) {
      not_in_models.push_back(name);
      continue;
    }
    expect_as_one_process(config_with(name), batch_of(1, 37));
  }
  EXPECT_THAT(not_in_models, testing::SizeIs(testing::Le(4)));
}

TEST(ContextParallelTraining, CountDropoutAndPositionsByTheWholeBatch) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    for (const char* scheme : {"learned", "rotary", "t5"}) {
      expect_as_one_process(config_with(scheme, kind), batch_of(1, 41), 0.3);
      expect_as_one_process(config_with(scheme, kind), batch_of(3, 10), 0.3);
    }
  }
  TransformerConfig config = config_with("sinusoidal");
  config.tied = false;
  config.pre_norm = false;
  expect_as_one_process(config, batch_of(2, 16), 0.3);
}

TEST(ContextParallelTraining, MayBeShorterThanTheRanksAreMany) {
  expect_as_one_process(config_with("rotary"), batch_of(1, 3));
  expect_as_one_process(config_with("learned"), batch_of(2, 1));
}

TEST(ContextParallelTraining, RefuseWhatWorksOnWholeOnesAlone) {
  RanksContextParallel sequence(world().duplicate());
  Workspace memory;
  Pass pass{.memory = memory, .context_parallel = &sequence};
  const LanguageModel<float> model(config_with("rotary"));
  const std::vector<std::int64_t> tokens = {1, 2, 3};
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { (void)model.logits(batch_of(1, 3), tokens, pass); },
           [&] { (void)model.log_likelihoods(batch_of(1, 3), pass); },
           [&] { (void)model.layer_logits(tokens, pass); },
           [&] { (void)model.attention_maps(tokens, pass); },
           [&] {
             (void)LanguageModel<double>(config_with("rotary"))
                 .loss(batch_of(1, 3), {}, nullptr, pass);
           }}) {
    EXPECT_THAT(call, testing::ThrowsMessage<Error>(HasSubstr("must have all tokens in one")));
  }
}

class TrainingOnSequences : public RunFolders {};

// One step of every way to share out ranks; then a run goes on with whole sequences.
TEST_F(TrainingOnSequences, TakesStepsOfOneProcess) {
  for (int divided = 1; divided <= world().size(); ++divided) {
    if (world().size() % divided != 0) continue;
    TrainingRanks group(world(), divided);
    EXPECT_EQ(group.context_parallel_size(), divided);
    TrainerOptions options = toy_options(path("run" + std::to_string(divided)));
    options.dropout = 0.2;
    options.steps = 4;
    StepMetrics first, alone;
    LanguageTask task = language_task(ModelKind::causal, 3),
                 whole = language_task(ModelKind::causal, 3);
    options.group = &group;
    const auto keep = [](StepMetrics& to) {
      return [&to](const TrainingProgress& now) {
        if (now.metrics.step == 1) to = now.metrics;
      };
    };
    const TrainingResult result = train(task, options, keep(first));
    TrainerOptions in_one = options;
    in_one.group = nullptr;
    in_one.folder = "";
    in_one.checkpoint_every = 0;
    const TrainingResult one = train(whole, in_one, keep(alone));
    EXPECT_EQ(result.tokens, one.tokens);
    EXPECT_NEAR(first.loss, alone.loss, 1e-6 * alone.loss) << divided;
    EXPECT_NEAR(first.gradient_norm, alone.gradient_norm, 1e-5 * alone.gradient_norm) << divided;
    ASSERT_TRUE(result.best_loss && one.best_loss);
    EXPECT_NEAR(*result.best_loss, *one.best_loss, 1e-3 * *one.best_loss) << divided;

    TrainingRanks others(world());
    options.group = &others;
    options.resume = true;
    options.steps = 6;
    EXPECT_EQ(train(task, options).step, 6);
  }
}

TEST_F(TrainingOnSequences, RefuseDropoutOfAttentionWeights) {
  if (world().size() == 1) return;
  TrainingRanks group(world(), world().size());
  TrainerOptions options = toy_options(path("run"));
  options.attention_dropout = 0.25;
  options.group = &group;
  LanguageTask task = language_task(ModelKind::causal, 2);
  EXPECT_THAT([&] { train(task, options); },
              testing::ThrowsMessage<SharedError>(
                  HasSubstr("[trainer.attention_dropout] must be 0 where sequences are divided "
                            "among ranks, got 0.25")));
}

TEST_F(TrainingOnSequences, HaveTheSameBitsInEveryRun) {
  std::vector<float> weights[2];
  for (auto& each : weights) {
    TrainingRanks group(world(), world().size());
    TrainerOptions options{.steps = 3};
    options.schedule = {.peak = 0.05};
    options.threads = &each == weights ? 1 : 2;
    options.group = &group;
    LanguageTask task = language_task(ModelKind::causal, 2);
    train(task, options);
    for (const auto& one : task.parameters()) {
      each.insert(each.end(), one.tensor->span().begin(), one.tensor->span().end());
    }
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(ContextParallelSize, DivideTheRanks) {
  const int size = world().size();
  for (const int divided : {0, size + 1}) {
    EXPECT_THAT([&] { TrainingRanks(world(), divided); },
                testing::ThrowsMessage<SharedError>(
                    "[ranks.context_parallel] must divide the number "
                    "of ranks, " +
                    std::to_string(size) + ", got " + std::to_string(divided)));
  }
}

// Neighbours share sequences; rank 0 stays the first.
TEST(ContextParallelSize, AreNeighbours) {
  if (world().size() != 4) return;
  TrainingRanks group(world(), 2);
  EXPECT_EQ(group.rank(), (std::vector{0, 2, 1, 3})[static_cast<std::size_t>(world().rank())]);
  EXPECT_EQ(group.context_parallel()->is_first(), world().rank() % 2 == 0);
}

}  // namespace
}  // namespace sextant::ranks::sequence_training_test
