// The loop: that it learns, when it ends, what it says, what it refuses.
#include "sextant/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "sextant/core/error.h"
#include "sextant/training/adamw.h"
#include "sextant/training/checkpoint.h"
#include "training/run_folders.h"
#include "training/toy_task.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Training = RunFolders;

TEST_F(Training, LearnsAndKeepsTheBestAndTheLastModel) {
  ToyTask task(1);
  TrainerOptions options = toy_options(path("run"));
  options.steps = 300;
  options.validate_every = 50;
  double first = 0, last = 0, validation = 0;
  const TrainingResult result = train(task, options, [&](const TrainingProgress& progress) {
    if (progress.metrics.step == 1) first = progress.metrics.loss;
    last = progress.metrics.mean_loss;
    if (progress.metrics.validation_loss) validation = *progress.metrics.validation_loss;
    EXPECT_EQ(progress.metrics.tokens, progress.metrics.step * ToyTask::kExamples);
  });
  EXPECT_EQ(result.end, TrainingEnd::steps);
  EXPECT_EQ(result.step, 300);
  EXPECT_NEAR(first, std::log(3.0), 0.3) << "three classes, weights near 0";
  EXPECT_LT(last, 0.6);
  EXPECT_LT(validation, 0.5);
  ASSERT_TRUE(result.best_loss);
  EXPECT_LE(*result.best_loss, validation);

  ToyTask other(2);
  load_parameters(path("run/last/model.safetensors"), other.parameters());
  EXPECT_EQ(weights_of(other), weights_of(task));
  load_parameters(path("run/best/model.safetensors"), other.parameters());
  Workspace memory;
  Pass pass{.memory = memory};
  LossSum sum;
  for (std::int64_t batch = 0; batch < other.validation_batches(); ++batch) {
    sum.add(other.validate(batch, pass));
  }
  EXPECT_EQ(sum.loss / static_cast<double>(sum.tokens), *result.best_loss);
}

TEST_F(Training, GivesTheSameBitsWithAnyThreads) {
  for (const int threads : {1, 2, 3}) {
    ToyTask task(1);
    TrainerOptions options = toy_options(path(std::to_string(threads)));
    options.threads = threads;
    train(task, options);
    EXPECT_EQ(differences(options.folder, path("1")), "") << threads;
  }
}

// After one step AdamW's m is 0.1 times the gradient. The terms of a gradient, one for each
// example, are added in chains within parts and then in a tree: each number takes part in at most
// (chain - 1) + depth additions, each of which rounds what is at most the sum of absolute terms by
// 2^-24 of it. (1.01: for products of roundings. 0.1f * g rounds once more, 1 - 0.9 too.)
TEST_F(Training, OfABatchInPartsIsThatOfTheWhole) {
  std::vector<double> sum(ToyTask::kClasses * (ToyTask::kFeatures + 1)), absolute(sum.size());
  ToyTask each(1, ToyTask::kExamples);
  each.on_accumulate = [&](std::int64_t, LossSum&) {  // the gradients are one example's
    std::size_t at = 0;
    for (const auto& gradient : each.gradients()) {
      for (const float term : gradient.tensor->span()) {
        absolute[at] += std::abs(term);
        sum[at++] += term;
      }
    }
  };
  TrainerOptions options = toy_options(path("each"));
  options.steps = 1;
  options.optimiser.clip_norm = 0;
  train(each, options);
  for (const std::int64_t parts : {1, 2, 3, 6, 8, 24}) {
    ToyTask task(1, parts);
    options.folder = path(std::to_string(parts));
    train(task, options);
    AdamW optimiser(task.parameters(), options.optimiser);
    RunFolder::open(options.folder).load(task, optimiser);
    const double roundings = static_cast<double>(ToyTask::kExamples / parts - 1) +
                             std::ceil(std::log2(static_cast<double>(parts)));
    std::size_t at = 0;
    for (const auto& state : optimiser.state()) {
      if (!state.name.starts_with("m.")) continue;
      for (const float m : state.tensor->span()) {
        const double bound = 1.01 * (roundings * absolute[at] + 2 * std::abs(sum[at])) * 0x1p-24;
        EXPECT_NEAR(m / 0.1, sum[at], bound) << parts << " parts, number " << at;
        ++at;
      }
    }
    EXPECT_EQ(at, sum.size());
  }
}

TEST_F(Training, DependsOnTheSeed) {
  ToyTask a(1), b(1);
  TrainerOptions options = toy_options(path("a"));
  train(a, options);
  options.folder = path("b");
  options.seed = 4;
  train(b, options);
  EXPECT_NE(weights_of(a), weights_of(b)) << "dropout is another one";
}

TEST_F(Training, EndsWhenTheMinutesAreOver) {
  ToyTask task(1);
  TrainerOptions options = toy_options(path("run"));
  double now = 100;
  options.clock = [&] { return now; };
  task.on_accumulate = [&](std::int64_t, LossSum&) { now += 7; };
  options.steps = 0;
  options.minutes = 1;
  const TrainingResult result = train(task, options, [&](const TrainingProgress& progress) {
    EXPECT_EQ(progress.metrics.seconds, 7.0 * static_cast<double>(progress.metrics.step));
    EXPECT_NEAR(progress.metrics.tokens_per_second, ToyTask::kExamples / 7.0, 1e-12);
    ASSERT_TRUE(progress.seconds_left);
    EXPECT_EQ(*progress.seconds_left,
              std::max(0.0, 60 - 7.0 * static_cast<double>(progress.metrics.step)));
  });
  EXPECT_EQ(result.end, TrainingEnd::minutes);
  EXPECT_EQ(result.step, 9);
  EXPECT_EQ(result.seconds, 63);

  // The minutes go on counting when the run is resumed.
  options.resume = true;
  options.minutes = 1.5;
  const TrainingResult longer = train(task, options);
  EXPECT_EQ(longer.step, 13);
  EXPECT_EQ(longer.seconds, 91);
}

TEST_F(Training, MakesCheckpointsByTheClock) {
  ToyTask task(1);
  TrainerOptions options = toy_options(path("run"));
  double now = 0;
  options.clock = [&] { return now; };
  task.on_accumulate = [&](std::int64_t, LossSum&) { now += 30; };
  options.checkpoint_every = 0;
  options.checkpoint_minutes = 2;
  options.validate_every = 0;
  std::vector<std::int64_t> saved;
  train(task, options, [&](const TrainingProgress& progress) {
    if (progress.saved) saved.push_back(progress.metrics.step);
  });
  EXPECT_THAT(saved, ::testing::ElementsAre(4, 8, 12));
}

TEST_F(Training, EndsWhenValidationGetsNoBetter) {
  ToyTask task(1);
  TrainerOptions options = toy_options(path("run"));
  options.steps = 100;
  options.patience = 2;
  task.held_out = ToyTask::kHeldOutBatch;
  int validations = 0;
  task.on_validate = [&](LossSum& sum) {
    sum.loss = std::array{9, 5, 6, 4, 4, 7, 1}[static_cast<std::size_t>(validations++)];
  };
  const TrainingResult result = train(task, options);
  EXPECT_EQ(result.end, TrainingEnd::patience);
  EXPECT_EQ(validations, 6) << "two in a row that are no better, equal ones too";
  EXPECT_EQ(result.step, 18);
  EXPECT_EQ(result.best_step, 12);
  EXPECT_EQ(fs::read_symlink(path("run/best")), "checkpoint-000000012");
  EXPECT_EQ(fs::read_symlink(path("run/last")), "checkpoint-000000018");
  EXPECT_EQ(name_of(result.end), "patience");
}

TEST_F(Training, HasNoBestModelWhenNothingIsHeldOut) {
  ToyTask task(1);
  task.held_out = 0;
  const TrainingResult result = train(task, toy_options(path("run")));
  EXPECT_FALSE(result.best_loss);
  EXPECT_FALSE(fs::exists(path("run/best")));
  EXPECT_TRUE(fs::exists(path("run/last/model.safetensors")));
}

TEST_F(Training, FollowsAFolderThatIsMoved) {
  ToyTask task(1);
  train(task, toy_options(path("straight")));
  ToyTask other(1);
  TrainerOptions options = toy_options(path("run"));
  options.should_stop = [&](const StepMetrics& metrics) {
    if (metrics.step == 5) fs::rename(path("run"), path("moved"));
    return false;
  };
  const TrainingResult result = train(other, options);
  EXPECT_EQ(fs::path(result.folder).filename(), "moved");
  EXPECT_FALSE(fs::exists(path("run")));
  EXPECT_EQ(differences(path("moved"), path("straight")), "");
}

// Of a folder with a relative name.
TEST_F(Training, KeepsItsFolderInAnotherWorkingDirectory) {
  ToyTask task(1);
  train(task, toy_options(path("straight")));
  const fs::path before = fs::current_path();
  fs::create_directory(path("elsewhere"));
  fs::current_path(path(""));
  ToyTask other(1);
  TrainerOptions options = toy_options("run");
  options.should_stop = [&](const StepMetrics& metrics) {
    if (metrics.step == 5) fs::current_path(path("elsewhere"));
    return false;
  };
  const TrainingResult result = train(other, options);
  EXPECT_TRUE(fs::equivalent(result.folder, path("run")));
  fs::current_path(before);
  EXPECT_TRUE(fs::is_empty(path("elsewhere")));
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Training, DoesNotMakeAFolderAnewThatWasRemoved) {
  ToyTask task(1);
  TrainerOptions options = toy_options(path("run"));
  options.should_stop = [&](const StepMetrics& metrics) {
    if (metrics.step == 5) fs::remove_all(path("run"));
    return false;
  };
  EXPECT_THAT(
      [&] { train(task, options); },
      ThrowsMessage<Error>(error_at("run", "must be there while it trains, but was removed")));
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(Training, StopsAtANumberThatIsNoneAndKeepsTheLastGoodCheckpoint) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ToyTask task(1);
  std::vector<float> before;
  task.on_accumulate = [&](std::int64_t step, LossSum& sum) {
    if (step != 6) return;
    before = weights_of(task);
    sum.loss = nan;
  };
  EXPECT_THAT([&] { train(task, toy_options(path("loss"))); },
              ThrowsMessage<Error>("[train.loss] must be finite, got nan at step 7; " +
                                   path("loss") + "/last keeps step 6"));
  EXPECT_EQ(weights_of(task), before) << "the step is not made";
  EXPECT_EQ(fs::read_symlink(path("loss/last")), "checkpoint-000000006");

  task.on_accumulate = [&](std::int64_t step, LossSum&) {
    if (step != 0) return;
    before = weights_of(task);
    (*task.gradients()[1].tensor)(2) = std::numeric_limits<float>::infinity();
  };
  EXPECT_THAT([&] { train(task, toy_options(path("norm"))); },
              ThrowsMessage<Error>("[train.gradient_norm] must be finite, got inf at step 1; no "
                                   "checkpoint was made before"));
  EXPECT_EQ(weights_of(task), before);

  task.on_accumulate = nullptr;
  task.on_validate = [&](LossSum& sum) { sum.loss = nan; };
  EXPECT_THAT([&] { train(task, toy_options(path("validation"))); },
              ThrowsMessage<Error>("[train.validation_loss] must be finite, got nan at step 3; " +
                                   path("validation") + "/last keeps step 2"));
}

TEST_F(Training, ThatThrowsBeforeItsFirstStepLeavesNothingBehind) {
  ToyTask task(1);
  task.on_accumulate = [](std::int64_t, LossSum&) { throw Error("task", "must have memory"); };
  EXPECT_THROW(train(task, toy_options(path("deep/er/run/"))), Error);
  EXPECT_FALSE(fs::exists(path("deep")));
  // What was there before stays.
  fs::create_directories(path("mine/run"));
  write_file(path("mine/run/notes.txt"), "mine");
  EXPECT_THROW(train(task, toy_options(path("mine/run"))), Error);
  EXPECT_THAT(contents_of(path("mine")), ::testing::SizeIs(2));
  EXPECT_EQ(read_file(path("mine/run/notes.txt")), "mine");
  task.on_accumulate = nullptr;
  EXPECT_EQ(train(task, toy_options(path("mine/run"))).step, 12);
}

TEST_F(Training, ThatDivergedBeforeACheckpointMayBeBegunAgain) {
  ToyTask task(1), again(1), straight(1);
  TrainerOptions options = toy_options(path("run"));
  options.checkpoint_every = 0;
  options.validate_every = 0;
  options.schedule.peak = 0.5;
  task.on_accumulate = [](std::int64_t step, LossSum& sum) {
    if (step == 4) sum.loss = std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_THROW(train(task, options), Error);
  EXPECT_EQ(loss_curves(path("run/metrics.jsonl")).steps.size(), 4U);  // to look at
  train(again, toy_options(path("run")));
  train(straight, toy_options(path("straight")));
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Training, NeverTakesThePlaceOfAnythingElse) {
  ToyTask task(1);
  for (const char* name : {"run.json", "metrics.jsonl", "last", "checkpoint-000000003"}) {
    fs::create_directory(path("run"));
    write_file(path("run/") + name, R"({"name": "mine"})");
    EXPECT_THAT([&] { train(task, toy_options(path("run"))); },
                ThrowsMessage<Error>(HasSubstr("must hold no ")))
        << name;
    EXPECT_EQ(read_file(path("run/") + name), R"({"name": "mine"})");
    fs::remove_all(path("run"));
  }
}

TEST_F(Training, RefusesTasksThatDoNotAddUp) {
  struct Empty final : TrainingTask {
    Tensor<float> none;
    Parameters<float> parameters() override { return {}; }
    Parameters<float> gradients() override { return {}; }
    std::int64_t target_tokens(std::int64_t) override { return 0; }
    std::int64_t batches(std::int64_t) const override { return 1; }
    LossSum accumulate(std::int64_t, std::int64_t, double, Pass&) override { return {}; }
    std::int64_t validation_batches() const override { return 0; }
    LossSum validate(std::int64_t, Pass&) override { return {}; }
    void save_model(const std::string&) override {}
  } empty;
  EXPECT_THAT([&] { train(empty, toy_options(path("empty"))); },
              ThrowsMessage<Error>("[task] must have targets and batches at step 1, got 0 and 1"));
  ToyTask task(1);
  task.on_accumulate = [](std::int64_t, LossSum& sum) { --sum.tokens; };
  EXPECT_THAT(
      [&] { train(task, toy_options(path("few"))); },
      ThrowsMessage<Error>("[task.accumulate] must sum over the 24 targets at step 1, got 23"));
}

TEST_F(Training, WithoutAFolderLearnsTheSameAndWritesNothing) {
  ToyTask kept(1), task(1);
  const TrainingResult with = train(kept, toy_options(path("run")));
  TrainerOptions options = toy_options("");
  options.checkpoint_every = 0;
  const std::string before = fs::current_path().string();
  const auto names = [&before] {
    return std::distance(fs::directory_iterator(before), fs::directory_iterator());
  };
  const auto count = names();
  std::vector<bool> saved;
  const TrainingResult result =
      train(task, options, [&saved](const TrainingProgress& now) { saved.push_back(now.saved); });
  EXPECT_EQ(names(), count);
  EXPECT_THAT(saved, testing::Each(false));
  EXPECT_EQ(result.best_loss, with.best_loss);
  EXPECT_EQ(result.best_step, with.best_step);
  EXPECT_EQ(result.tokens, with.tokens);
  const auto same = task.parameters(), wanted = kept.parameters();
  for (std::size_t i = 0; i < same.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(same[i].tensor->span(), wanted[i].tensor->span()));
  }
}

TEST_F(Training, RefusesWhatIsOutOfRangeBeforeItMakesTheFolder) {
  ToyTask task(1);
  const auto refuses = [&](auto change, const std::string& message) {
    TrainerOptions options = toy_options(path("run"));
    change(options);
    EXPECT_THAT([&] { train(task, options); }, ThrowsMessage<Error>(message));
    EXPECT_FALSE(fs::exists(path("run")));
  };
  using O = TrainerOptions;
  const std::string folder_is_needed =
      "[trainer.folder] must be given for resume and checkpoint_every, got ''";
  refuses([](O& o) { o.folder = ""; }, folder_is_needed);
  refuses([](O& o) { o.folder = "", o.checkpoint_every = 0, o.resume = true; }, folder_is_needed);
  refuses([](O& o) { o.dropout = 1; }, "[trainer.dropout] must be at least 0 and below 1, got 1");
  refuses([](O& o) { o.attention_dropout = 1; },
          "[trainer.attention_dropout] must be at least 0 and below 1, got 1");
  refuses([](O& o) { o.word_dropout = -1; },
          "[trainer.word_dropout] must be at least 0 and below 1, got -1");
  refuses([](O& o) { o.ema_decay = 1; },
          "[trainer.ema_decay] must be at least 0 and below 1, got 1");
  refuses([](O& o) { o.ema_decay = NAN; },
          "[trainer.ema_decay] must be at least 0 and below 1, got nan");
  refuses([](O& o) { o.steps = -1; }, "[trainer.steps] must be at least 0, got -1");
  refuses([](O& o) { o.steps = 0; }, "[trainer.steps] must be above 0 unless minutes are given");
  refuses([](O& o) { o.minutes = NAN; },
          "[trainer.minutes] must be finite and at least 0, got nan");
  refuses([](O& o) { o.checkpoint_minutes = -1; },
          "[trainer.checkpoint_minutes] must be finite and at least 0, got -1");
  refuses([](O& o) { o.patience = -1; }, "[trainer.patience] must be at least 0, got -1");
  refuses([](O& o) { o.validate_every = -2; },
          "[trainer.validate_every] must be at least 0, got -2");
  refuses([](O& o) { o.checkpoint_every = -2; },
          "[trainer.checkpoint_every] must be at least 0, got -2");
  refuses([](O& o) { o.validate_every = 0, o.patience = 3; },
          "[trainer.patience] must be 0 when validate_every is 0, got 3");
  refuses([](O& o) { o.threads = -1; }, "[trainer.threads] must be 0 .. 1024, got -1");
  refuses([](O& o) { o.settings = "[1]"; }, "[trainer.settings] must be a JSON object, got array");
  refuses([](O& o) { o.schedule.peak = 0; }, "[schedule.peak] must be finite and above 0, got 0");
  refuses([](O& o) { o.optimiser.beta1 = 1; },
          "[adamw.beta1] must be at least 0 and below 1, got 1");
}

}  // namespace
}  // namespace sextant
