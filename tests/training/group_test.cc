// Training by several ranks at once, which are threads here: tests/ranks has those of MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "training/run_folders.h"
#include "training/small_tasks.h"
#include "training/thread_group.h"
#include "training/toy_task.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TrainingOnRanks : public RunFolders {
 protected:
  using Make = std::function<std::unique_ptr<TrainingTask>(int rank)>;

  // Trains in the folder on `ranks` ranks; what each threw.
  std::vector<std::string> train_on(int ranks, const TrainerOptions& options, const Make& make,
                                    const std::function<void(TrainerOptions&, int)>& change = {}) {
    return on_thread_ranks(ranks, [&](TrainingGroup& group) {
      const auto task = make(group.rank());
      TrainerOptions own = options;
      own.group = &group;
      if (change) change(own, group.rank());
      train(*task, own);
    });
  }
  // The folder of any number of ranks is that of one process that makes the same parts.
  void expect_same(const std::string& name, const Make& make, double ema_decay = 0) {
    TrainerOptions options = toy_options(path(name));
    options.dropout = 0.2;
    options.word_dropout = 0.1;
    options.attention_dropout = 0.3;
    options.ema_decay = ema_decay;
    options.steps = 6;
    const auto alone = make(0);
    train(*alone, options);
    for (const int ranks : {1, 2, 3, 4, 5}) {
      options.folder = path(name + std::to_string(ranks));
      EXPECT_THAT(train_on(ranks, options, make), Each(""));
      EXPECT_EQ(differences(options.folder, path(name)), "") << name << " on " << ranks;
    }
  }
};

std::unique_ptr<TrainingTask> toy(std::uint32_t start, std::int64_t batches) {
  return std::make_unique<ToyTask>(start, batches);
}

TEST_F(TrainingOnRanks, WritesTheFilesOfOneProcess) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    expect_same(std::string(name_of(kind)),
                [kind](int) { return std::make_unique<LanguageTask>(language_task(kind, 4)); });
  }
  expect_same("translator",
              [](int) { return std::make_unique<TranslationTask>(translation_task(4)); });
  expect_same("one part", [](int) { return toy(1, 1); });
  expect_same(
      "average", [](int rank) { return toy(rank == 0 ? 1 : 7, 4); }, 0.9);
}

TEST_F(TrainingOnRanks, GoesOnWithAnotherNumberOfRanks) {
  const Make make = [](int rank) { return toy(rank == 0 ? 1 : 7, 6); };
  for (const OptimiserMethod method : {OptimiserMethod::adamw, OptimiserMethod::muon}) {
    const std::string straight = path("straight-" + std::string(name_of(method)));
    TrainerOptions options = toy_options(straight);
    options.optimiser.method = method;
    options.ema_decay = method == OptimiserMethod::muon ? 0.9 : 0;
    ToyTask alone(1, 6);
    train(alone, options);

    options.folder = path("run-" + std::string(name_of(method)));
    for (const auto& [ranks, steps] : {std::pair{3, 5}, {2, 8}, {4, 12}}) {
      options.steps = steps;
      EXPECT_THAT(train_on(ranks, options, make), Each(""));
      options.resume = true;
    }
    for (const char* name : {"/last/model.safetensors", "/last/optimiser.safetensors"}) {
      EXPECT_EQ(read_file(options.folder + name), read_file(straight + name));
    }
  }
}

TEST_F(TrainingOnRanks, StopsAllWhereOneIsToldTo) {
  const auto change = [](TrainerOptions& own, int rank) {
    own.should_stop = [rank](const StepMetrics& now) { return rank == 2 && now.step == 5; };
  };
  const auto make = [](int) { return toy(1, 3); };
  EXPECT_THAT(train_on(3, toy_options(path("run")), make, change), Each(""));
  EXPECT_EQ(fs::read_symlink(path("run/last")), "checkpoint-000000005");
}

TEST_F(TrainingOnRanks, RefusesWhatDiffersOnAll) {
  const auto toys = [](int) { return toy(1, 3); };
  const TrainerOptions options = toy_options(path("run"));
  const auto refuses = [&](const std::string& where, const Make& make, const auto& change) {
    const auto problems = train_on(3, options, make, change);
    EXPECT_THAT(problems, Each(StartsWith("[" + where + "] must be "))) << where;
    EXPECT_THAT(problems, Each(problems[0]));
    EXPECT_FALSE(fs::exists(path("run"))) << where;
  };
  using O = TrainerOptions;
  refuses("trainer.seed", toys, [](O& own, int rank) { own.seed = rank == 2 ? 9 : 3; });
  refuses("trainer.steps", toys, [](O& own, int rank) { own.steps += rank; });
  refuses("trainer.ema_decay", toys, [](O& own, int rank) { own.ema_decay = 0.1 * rank; });
  refuses("trainer.dropout", toys, [](O& own, int rank) { own.dropout = rank; });  // 1: no range
  refuses("optimiser.beta1", toys, [](O& own, int rank) { own.optimiser.beta1 = 0.1 * rank; });
  refuses("schedule.peak", toys, [](O& own, int rank) { own.schedule.peak = rank + 1; });
  refuses("trainer.settings.data", toys, [](O& own, int rank) {
    own.settings = rank == 1 ? R"({"data": "b"})" : R"({"data": "a"})";
  });
  refuses("trainer.folder", toys, [](O& own, int rank) {
    if (rank == 1) own.folder = "", own.checkpoint_every = 0;
  });
  const auto none = [](O&, int) {};
  refuses(
      "task.batches", [](int rank) { return toy(1, rank == 1 ? 2 : 3); }, none);
  const auto models = [](int rank) {
    return std::make_unique<LanguageTask>(
        language_task(rank == 1 ? ModelKind::masked : ModelKind::causal, 3));
  };
  EXPECT_THAT(train_on(2, options, models), Each(HasSubstr("must be the same")));
}

TEST_F(TrainingOnRanks, ThrowsOnAllWhatOneThrew) {
  const auto broken = [](std::int64_t at) {
    return [at](int rank) {
      auto task = std::make_unique<ToyTask>(1, 3);
      if (rank == 1) {
        task->on_accumulate = [at](std::int64_t step, LossSum& sum) {
          if (step == at) throw Error("task", "must have memory");
          if (step == 8) sum.loss = std::numeric_limits<double>::quiet_NaN();
        };
      }
      return task;
    };
  };
  EXPECT_THAT(train_on(3, toy_options(path("run")), broken(0)), Each("[task] must have memory"));
  EXPECT_FALSE(fs::exists(path("run")));
  EXPECT_THAT(train_on(3, toy_options(path("run")), broken(7)), Each("[task] must have memory"));
  EXPECT_EQ(fs::read_symlink(path("run/last")), "checkpoint-000000006");
  EXPECT_THAT(train_on(3, toy_options(path("none")), broken(99)),
              Each("[train.loss] must be finite, got nan at step 9; " + path("none") +
                   "/last keeps step 8"));
  const auto full = [](int rank) {
    auto task = std::make_unique<ToyTask>(1, 3);
    task->on_save = [rank](const std::string&) {
      EXPECT_EQ(rank, 0);
      throw Error("disk", "must have room");
    };
    return task;
  };
  EXPECT_THAT(train_on(3, toy_options(path("full")), full), Each("[disk] must have room"));
}

}  // namespace
}  // namespace sextant
