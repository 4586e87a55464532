// Training on ranks of MPI beside one process, and work that is distributed.
#include "sextant/ranks/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

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

class Distribute : public testing::Test {
 protected:
  using Make = std::function<std::optional<std::string>(std::int64_t)>;

  bool distribute(std::int64_t count, const Make& run) {
    taken_.clear();
    const auto on_result = [this](std::int64_t piece, const std::string& result) {
      taken_[piece] = result;
    };
    return group_.distribute(count, {.run = run, .on_result = on_result});
  }

  TrainingRanks group_{world()};
  std::map<std::int64_t, std::string> taken_;
};

TEST_F(Distribute, BringsEveryResultToTheFirstRank) {
  for (const std::int64_t count : {0, 1, 3, 20}) {
    std::int64_t mine = 0;
    EXPECT_TRUE(distribute(count, [&](std::int64_t piece) {
      ++mine;
      return std::string(static_cast<std::size_t>(1000 * piece), 'x');
    }));
    world().all_reduce(std::span(&mine, 1));
    EXPECT_EQ(mine, count);
    EXPECT_EQ(taken_.size(), world().rank() == 0 ? static_cast<std::size_t>(count) : 0U);
    for (const auto& [piece, result] : taken_) {
      EXPECT_EQ(result.size(), static_cast<std::size_t>(1000 * piece));
    }
  }
}

// The rank with the first piece, which takes long, gets no other.
TEST_F(Distribute, GivesMoreToThoseThatAreFree) {
  std::int64_t last = -1;
  EXPECT_TRUE(distribute(8, [&](std::int64_t piece) {
    if (piece == 0) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    last = piece;
    return "";
  }));
  std::int64_t had_one = last == 0;
  world().all_reduce(std::span(&had_one, 1));
  EXPECT_EQ(had_one, world().size() == 1 ? 0 : 1);
}

// The one that stops gets a piece for sure: the others wait in theirs.
TEST_F(Distribute, EndsAllWhereOneStops) {
  for (const int who : {0, world().size() - 1}) {
    const bool made = distribute(50, [&](std::int64_t) -> std::optional<std::string> {
      if (world().rank() == who) return std::nullopt;
      for (int i = 0; i < 2500 && !group_.cancelled(); ++i) {  // 5 s
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      EXPECT_TRUE(group_.cancelled()) << who;
      return std::nullopt;
    });
    EXPECT_FALSE(made);
    EXPECT_TRUE(taken_.empty());
    EXPECT_TRUE(distribute(3, [](std::int64_t) { return "again"; }));
  }
}

TEST_F(Distribute, ThrowsOnAllWhatOneThrew) {
  std::string problem;
  try {
    distribute(9, [](std::int64_t piece) -> std::optional<std::string> {
      if (piece == 4) throw Error("piece", "must be another one");
      return "";
    });
  } catch (const SharedError& error) {
    problem = error.what();
  }
  EXPECT_THAT(problem, StartsWith("[piece] must be another one"));
  EXPECT_TRUE(distribute(3, [](std::int64_t) { return "again"; }));
}

}  // namespace
}  // namespace sextant::ranks
