// Loss curves from metrics.jsonl, and lines of progress.
#include "sextant/training/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sextant/core/error.h"
#include "sextant/training/progress.h"
#include "training/run_folders.h"
#include "training/toy_task.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

using Metrics = RunFolders;

TEST_F(Metrics, GiveTheCurvesBack) {
  ToyTask task(1);
  std::vector<StepMetrics> seen;
  train(task, toy_options(path("run")),
        [&](const TrainingProgress& progress) { seen.push_back(progress.metrics); });
  const LossCurves curves = loss_curves(path("run/metrics.jsonl"));
  ASSERT_EQ(curves.steps.size(), 12U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(curves.steps[i], static_cast<double>(i + 1));
    EXPECT_EQ(curves.loss[i], seen[i].loss) << "to the last bit";
    EXPECT_EQ(curves.mean_loss[i], seen[i].mean_loss);
  }
  EXPECT_THAT(curves.validation_steps, ElementsAre(3, 6, 9, 12));
  EXPECT_EQ(curves.validation_loss[1], seen[5].validation_loss);
}

TEST_F(Metrics, MeanLossIsAMovingAverageThatStartsAtTheFirstLoss) {
  ToyTask task(1);
  double sum = 0, weight = 0;
  train(task, toy_options(path("run")), [&](const TrainingProgress& progress) {
    sum = 0.98 * sum + 0.02 * progress.metrics.loss;
    weight = 0.98 * weight + 0.02;
    // A few dozen roundings of 2^-53.
    EXPECT_NEAR(progress.metrics.mean_loss, sum / weight, 64 * 0x1p-53);
  });
}

TEST_F(Metrics, MayBeReadWhileTheyAreWritten) {
  const std::string line = R"({"step":1,"loss":2.5,"mean_loss":2.5,"seconds":0.5})";
  write_file(path("m"), line + "\n" + R"({"step":2,"lo)");
  EXPECT_THAT(loss_curves(path("m")).loss, ElementsAre(2.5));
  EXPECT_THAT(loss_curves(path("m")).seconds, ElementsAre(0.5));
  write_file(path("m"), "");
  EXPECT_TRUE(loss_curves(path("m")).steps.empty());
}

TEST_F(Metrics, OfSomethingElseAreRefusedWithTheLine) {
  const std::string line = R"({"step":1,"loss":2.5,"mean_loss":2.5,"seconds":0.5})";
  for (const char* bad : {"{", "", "[1]", R"({"step":1})", R"({"step":"1","loss":1})", "\xff"}) {
    write_file(path("m"), line + "\n" + bad + "\n");
    EXPECT_THAT(
        [&] { loss_curves(path("m")); },
        ThrowsMessage<Error>("[" + path("m") +
                             "] must be the metrics of a training run, but is not in line 2"))
        << bad;
  }
  for (const char* bad :
       {R"({"step":1,"loss":2.5,"mean_loss":2.5,"seconds":0.5})",
        R"({"step":1.5,"loss":2.5,"mean_loss":2.5,"seconds":0.5})",
        R"({"step":2,"loss":1e999,"mean_loss":2.5,"seconds":0.5})",
        R"({"step":2,"loss":2.5,"mean_loss":2.5,"seconds":-1})",
        R"({"step":9223372036854775808,"loss":2.5,"mean_loss":2.5,"seconds":1})"}) {
    write_file(path("m"), line + "\n" + bad + "\n");
    EXPECT_THROW(loss_curves(path("m")), Error) << bad;
  }
  EXPECT_THROW(loss_curves(path("missing")), Error);
}

TEST(ProgressLine, SaysAsMuchAsFits) {
  TrainingProgress progress{.steps = 5000, .seconds_left = 760};
  progress.metrics.step = 1200;
  progress.metrics.mean_loss = 3.2141;
  progress.metrics.tokens_per_second = 5210.4;
  EXPECT_EQ(progress_line(progress), "step 1200/5000  loss 3.214  5210 tokens/s  12:40 left");
  const LastValidation before{.step = 1000, .loss = 3.3071};
  const std::string all =
      "step 1200/5000  loss 3.214  5210 tokens/s  12:40 left  validation 3.307 at 1000";
  EXPECT_EQ(progress_line(progress, 80, before), all);
  EXPECT_EQ(progress_line(progress, static_cast<std::int64_t>(all.size()), before), all);
  EXPECT_EQ(progress_line(progress, static_cast<std::int64_t>(all.size()) - 1, before),
            "step 1200/5000  loss 3.214  5210 tokens/s  12:40 left");
  EXPECT_EQ(progress_line(progress, 20), "step 1200/5000");
  EXPECT_EQ(progress_line(progress, 5), "");
  progress.steps = 0;
  progress.seconds_left.reset();
  progress.metrics.validation_loss = 2;
  EXPECT_EQ(progress_line(progress, 80, before),
            "step 1200  loss 3.214  5210 tokens/s  validation 2.000 at 1200");
}

TEST(ProgressLine, WritesTimesAsAClockDoes) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(9.99), "0:09");
  EXPECT_EQ(clock_text(760), "12:40");
  EXPECT_EQ(clock_text(3 * 3600 + 5 * 60), "3:05:00");
  EXPECT_EQ(clock_text(-1), "?");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(clock_text(1e300), "?");
}

}  // namespace
}  // namespace sextant
