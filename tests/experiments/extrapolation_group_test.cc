// An experiment whose schemes are trained side by side, by ranks that are threads here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "core/json/json.h"
#include "experiments/small_extrapolation.h"
#include "sextant/core/error.h"
#include "sextant/experiments/extrapolation_run.h"
#include "training/thread_group.h"

namespace sextant {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class ExtrapolationOnRanks : public SmallExtrapolation {
 protected:
  ExtrapolationOptions options(const std::string& folder) const {
    return small(folder, {"none", "learned", "alibi", "rotary", "t5"});
  }

  using Change = std::function<void(ExtrapolationOptions&, int rank)>;
  // What each rank threw; results_ has the tables of those that did not.
  std::vector<std::string> run_on(int ranks, const ExtrapolationOptions& options,
                                  const Change& change = {}) {
    results_.clear();
    trained_.clear();
    return on_thread_ranks(ranks, [&](TrainingGroup& group) {
      ExtrapolationOptions own = options;
      own.group = &group;
      if (change) change(own, group.rank());
      const ExtrapolationResult result = extrapolate(
          own, *tokenizer_, tokens_, held_out_, [&](const ExtrapolationProgress& progress) {
            const std::lock_guard lock(mutex_);
            if (progress.doing == "training") trained_.insert(name_of_run(own, progress));
          });
      const std::lock_guard lock(mutex_);
      results_.push_back(result);
    });
  }

  std::mutex mutex_;
  std::vector<ExtrapolationResult> results_;
  std::set<std::string> trained_;
};

TEST_F(ExtrapolationOnRanks, WritesTheFilesOfOneProcess) {
  for (const int ranks : {1, 2, 3, 7}) {
    const std::string name = std::to_string(ranks);
    EXPECT_THAT(run_on(ranks, options(name)), Each(""));
    EXPECT_EQ(differences(path(name), path("1")), "") << ranks;
    ASSERT_EQ(results_.size(), static_cast<std::size_t>(ranks));
    for (const ExtrapolationResult& result : results_) {
      EXPECT_EQ(format_json(result.table), format_json(results_[0].table));
      EXPECT_EQ(result.table.rows.size(), 5U);
      EXPECT_FALSE(result.stopped);
    }
  }
}

TEST_F(ExtrapolationOnRanks, KeepsWhatIsFinishedAndGoesOnWithAnotherNumber) {
  EXPECT_THAT(run_on(1, options("straight")), Each(""));
  int asked = 0;
  const Change stop = [&](ExtrapolationOptions& own, int rank) {
    if (rank == 1) own.should_stop = [&asked] { return ++asked > 12; };  // in its second scheme
  };
  EXPECT_THAT(run_on(2, options("run"), stop), Each(""));
  for (const ExtrapolationResult& result : results_) EXPECT_TRUE(result.stopped);
  const std::size_t finished = results_[0].table.rows.size();
  EXPECT_GE(finished, 1U);
  EXPECT_LT(finished, 5U);
  EXPECT_THAT(run_on(3, options("run")), Each(""));
  EXPECT_LE(trained_.size(), 5 - finished);
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(ExtrapolationOnRanks, HandsOutSeedsOneByOneWithTheFilesOfOneProcess) {
  const auto of = [this](const std::string& folder) {
    ExtrapolationOptions seeds = small(folder, {"none", "learned"});
    seeds.seeds = 3;
    return seeds;
  };
  for (const int ranks : {1, 2, 3, 7}) {
    const std::string name = std::to_string(ranks);
    EXPECT_THAT(run_on(ranks, of(name)), Each(""));
    EXPECT_EQ(differences(path(name), path("1")), "") << ranks;
    EXPECT_EQ(trained_.size(), 6U);
    for (const ExtrapolationResult& result : results_) {
      EXPECT_EQ(format_csv(result.table), format_csv(results_[0].table));
      EXPECT_EQ(result.table.rows.size(), 6U);
    }
  }
  int asked = 0;
  const Change stop = [&](ExtrapolationOptions& own, int rank) {
    if (rank == 1) own.should_stop = [&asked] { return ++asked > 12; };  // in its second model
  };
  EXPECT_THAT(run_on(2, of("run"), stop), Each(""));
  ASSERT_FALSE(results_.empty());
  const std::size_t finished = results_[0].table.rows.size();
  EXPECT_GE(finished, 1U);
  EXPECT_LT(finished, 6U);
  EXPECT_THAT(run_on(3, of("run")), Each(""));
  EXPECT_LE(trained_.size(), 6 - finished);
  EXPECT_EQ(differences(path("run"), path("1")), "");
}

TEST_F(ExtrapolationOnRanks, MeasuresOnAll) {
  ExtrapolationOptions measured = options("run");
  measured.steps = 0;
  measured.minutes = 40;
  const Change clock = [](ExtrapolationOptions& own, int) {
    own.clock = [now = 0.0]() mutable { return now += 10; };  // a step or a score takes 10 s
  };
  EXPECT_THAT(run_on(2, measured, clock), Each(""));
  const Json plan = Json::parse(read_file(path("run/plan.json")));
  EXPECT_EQ(plan.at("measured").size(), 5U);
  EXPECT_EQ(plan.at("measured")[4].at("label"), "t5");
  EXPECT_EQ(plan.at("measured")[4].at("step_seconds"), 10.0);
  // One process could make 2400 s / 5 / 10 s; the busier rank has three of the five schemes.
  EXPECT_GT(plan.at("steps").get<std::int64_t>(), 48);
  EXPECT_LT(plan.at("steps").get<std::int64_t>(), 80);
}

TEST_F(ExtrapolationOnRanks, RefusesWhatDiffersOnAll) {
  const auto refuses = [&](const std::string& part, const Change& change) {
    EXPECT_THAT(run_on(3, options("run"), change), Each(HasSubstr(part)));
    EXPECT_FALSE(std::filesystem::exists(path("run"))) << part;
  };
  refuses("[extrapolation.steps] must be the same",
          [](ExtrapolationOptions& own, int rank) { own.steps += rank; });
  refuses("[extrapolation.schemes] must be the same", [](ExtrapolationOptions& own, int rank) {
    if (rank == 2) own.schemes.pop_back();
  });
  refuses("[extrapolation.seeds] must be the same",
          [](ExtrapolationOptions& own, int rank) { own.seeds += rank; });
  refuses("[extrapolation.seed] must be the same", [](ExtrapolationOptions& own, int rank) {
    own.data.seed = static_cast<std::uint64_t>(rank);
  });
  refuses("[extrapolation.model] must be the same", [](ExtrapolationOptions& own, int rank) {
    if (rank == 1) own.model.width = 16;
  });
  refuses("[extrapolation.stride] must be",
          [](ExtrapolationOptions& own, int rank) { own.stride = rank == 1 ? 99 : 4; });
}

// A folder of a scheme that cannot be a run's is an error of the rank that gets it.
TEST_F(ExtrapolationOnRanks, ThrowsOnAllWhatOneThrew) {
  std::filesystem::create_directories(path("run/alibi"));
  write_file(path("run/alibi/run.json"), "{}");
  EXPECT_THAT(run_on(2, options("run")), Each(HasSubstr("run/alibi/run.json] must be ")));
}

}  // namespace
}  // namespace sextant
