// Training on ranks of MPI beside one process.
#include "sextant/ranks/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ranks/world.h"
#include "sextant/ranks/agreement.h"
#include "training/run_folders.h"
#include "training/small_tasks.h"
#include "training/toy_task.h"

namespace sextant::ranks {
namespace {

using ::testing::StartsWith;

class Training : public RunFolders {
 protected:
  bool is_first() const { return world().rank() == 0; }
  // Its folder is that of one process, which the first rank has trained in before.
  template <class Make>
  void expect_same(const std::string& name, const Make& make) {
    TrainerOptions options = toy_options(path(name));
    options.dropout = 0.2;
    options.steps = 6;
    if (is_first()) {
      auto task = make();
      train(task, options);
    }
    options.folder = path(name + "-ranks");
    TrainingRanks group(world());
    options.group = &group;
    auto task = make();
    const TrainingResult result = train(task, options);
    EXPECT_EQ(result.step, 6);
    if (is_first()) {
      EXPECT_EQ(differences(path(name), options.folder), "") << name;
    }
    EXPECT_EQ(std::filesystem::exists(options.folder), is_first());
  }
};

TEST_F(Training, WritesTheFilesOfOneProcess) {
  expect_same("causal", [] { return language_task(ModelKind::causal, 4); });
  expect_same("masked", [] { return language_task(ModelKind::masked, 4); });
  expect_same("translator", [] { return translation_task(4); });
  expect_same("few parts", [] { return ToyTask(1, 2); });
}

TEST_F(Training, RefusesWhatDiffersOnAllRanks) {
  if (world().size() == 1) return;
  const bool is_last = world().rank() == world().size() - 1;
  TrainingRanks group(world());
  TrainerOptions options = toy_options(path("run"));
  options.group = &group;
  const auto refuses = [&](const std::string& start, std::int64_t batches) {
    ToyTask task(1, batches);
    try {
      train(task, options);
      ADD_FAILURE() << "trained";
    } catch (const SharedError& error) {
      EXPECT_THAT(error.what(), StartsWith(start));
    }
    EXPECT_FALSE(std::filesystem::exists(path("run")));
  };
  options.seed = is_last ? 8 : 9;
  refuses("[trainer.seed] must be the same on all ranks, got 9 on rank 0 and 8 on rank ", 4);
  options.seed = 9;
  refuses("[task.batches] must be the same on all ranks, got 4 on rank 0 and 2 on rank ",
          is_last ? 2 : 4);
  options.dropout = is_last ? 2 : 0;
  refuses("[trainer.dropout] must be at least 0 and below 1, got 2, on rank ", 4);
}

}  // namespace
}  // namespace sextant::ranks
