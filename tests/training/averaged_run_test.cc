// Runs that validate and save a moving average of their weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sextant/core/error.h"
#include "training/averaged_weights.h"
#include "training/run_folders.h"
#include "training/toy_task.h"

namespace sextant {
namespace averaged_run_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ThrowsMessage;

constexpr double kDecay = 0.3;  // from the fifth step on

class AveragedRun : public RunFolders {
 protected:
  AveragedRun() {
    ToyTask task(1);
    TrainerOptions options = toy_options(path("plain"));
    result_ = train(task, options,
                    [&](const TrainingProgress&) { weights_.push_back(weights_of(task)); });
  }
  TrainerOptions options_for(const std::string& name) const {
    TrainerOptions options = toy_options(path(name));
    options.ema_decay = kDecay;
    return options;
  }
  // Checks a model against the average of the first steps of the run without an average.
  void expect_average(const std::vector<float>& found, std::int64_t steps) const {
    const AveragedWeights wanted =
        averaged_weights({weights_.begin(), weights_.begin() + steps}, kDecay);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], wanted.value[i], wanted.error[i]) << "element " << i;
    }
  }
  std::vector<float> model_of(const std::string& folder) const {
    ToyTask task(7);
    load_parameters(path(folder) + "/model.safetensors", task.parameters());
    return weights_of(task);
  }
  static double held_out_loss_of(const std::vector<float>& weights) {
    ToyTask task(7);
    auto at = weights.begin();
    for (const auto& each : task.parameters()) {
      for (float& value : each.tensor->span()) value = *at++;
    }
    Workspace memory;
    Pass pass{.memory = memory};
    LossSum sum;
    for (std::int64_t batch = 0; batch < task.validation_batches(); ++batch) {
      sum.add(task.validate(batch, pass));
    }
    return sum.loss / static_cast<double>(sum.tokens);
  }

  std::vector<std::vector<float>> weights_;  // after each step
  TrainingResult result_;
};

TEST_F(AveragedRun, ValidatesAndSavesTheAverage) {
  ToyTask task(1);
  const TrainerOptions options = options_for("run");
  std::vector<double> losses;
  const TrainingResult result = train(task, options, [&](const TrainingProgress& now) {
    const auto& metrics = now.metrics;
    losses.push_back(metrics.loss);
    if (!now.saved && !metrics.validation_loss) {
      EXPECT_EQ(weights_of(task), weights_[losses.size() - 1]);
      return;
    }
    expect_average(weights_of(task), metrics.step);
    if (now.saved) {
      EXPECT_EQ(model_of("run/last"), weights_of(task));
    }
    if (metrics.validation_loss) {
      EXPECT_EQ(*metrics.validation_loss, held_out_loss_of(weights_of(task)));
    }
  });
  EXPECT_EQ(weights_of(task), model_of("run/last"));
  EXPECT_NE(weights_of(task), weights_.back());
  expect_average(model_of("run/best"), result.best_step);
  EXPECT_EQ(held_out_loss_of(model_of("run/best")), result.best_loss);
  EXPECT_NE(result.best_loss, result_.best_loss);
  EXPECT_EQ(losses, loss_curves(path("plain/metrics.jsonl")).loss) << "the weights learn the same";

  ToyTask weights(7), m(7), v(7);
  Parameters<float> all;
  for (const auto& [prefix, of] : {std::pair{"weights.", &weights}, {"m.", &m}, {"v.", &v}}) {
    for (const auto& each : of->parameters()) {
      all.push_back({prefix + each.name, each.tensor, false});
    }
  }
  load_parameters(path("run/last/optimiser.safetensors"), all);
  EXPECT_EQ(weights_of(weights), weights_.back());
  EXPECT_EQ(read_run(path("run")).ema_decay, kDecay);
}

TEST_F(AveragedRun, WithoutAFolderShowsTheAverageOfEachValidation) {
  ToyTask task(1);
  TrainerOptions options = options_for("");
  options.folder = "";
  options.checkpoint_every = 0;
  int validations = 0;
  options.should_stop = [&](const StepMetrics& now) {
    if (now.validation_loss) {
      ++validations;
      expect_average(weights_of(task), now.step);
      EXPECT_EQ(*now.validation_loss, held_out_loss_of(weights_of(task)));
    } else {
      EXPECT_EQ(weights_of(task), weights_[static_cast<std::size_t>(now.step) - 1]);
    }
    return now.step == 11;
  };
  EXPECT_EQ(train(task, options).end, TrainingEnd::stopped);
  EXPECT_EQ(validations, 3);
  expect_average(weights_of(task), 11);
}

TEST_F(AveragedRun, GoesOnBitForBit) {
  for (const OptimiserMethod method : {OptimiserMethod::adamw, OptimiserMethod::muon}) {
    TrainerOptions options = options_for("straight-" + std::string(name_of(method)));
    options.optimiser.method = method;
    const std::string straight = options.folder;
    ToyTask whole(1);
    train(whole, options);
    options.folder = path("run");
    for (const std::int64_t step : {1, 3, 4, 7, 12}) {
      options.should_stop = [step](const StepMetrics& now) { return now.step == step; };
      ToyTask task(options.resume ? 99 : 1);
      train(task, options);
      options.resume = true;
    }
    EXPECT_EQ(differences(path("run"), straight), "");
    ToyTask again(99);
    EXPECT_EQ(train(again, options).step, 12);
    EXPECT_EQ(weights_of(again), weights_of(whole)) << "a finished run has the average";
    EXPECT_EQ(differences(path("run"), straight), "");
    fs::remove_all(path("run"));
  }
}

TEST_F(AveragedRun, MayEndWithoutAValidation) {
  ToyTask task(1);
  TrainerOptions options = options_for("run");
  task.held_out = 0;
  const TrainingResult result = train(task, options);
  EXPECT_FALSE(result.best_loss);
  expect_average(model_of("run/last"), 12);
  EXPECT_EQ(weights_of(task), model_of("run/last"));
}

TEST_F(AveragedRun, IsOneWithTheSameDecay) {
  ToyTask task(1);
  TrainerOptions options = options_for("run");
  options.steps = 5;
  train(task, options);
  options.resume = true;
  options.steps = 12;
  const auto refuses = [&](double decay, const std::string& what) {
    TrainerOptions other = options;
    other.ema_decay = decay;
    EXPECT_THAT([&] { train(task, other); }, ThrowsMessage<Error>(error_at("run/run.json", what)));
  };
  refuses(0, "must have the same ema_decay to be resumed: it is 0.3, asked for 0.0");
  refuses(0.5, "must have the same ema_decay to be resumed: it is 0.3, asked for 0.5");
  EXPECT_EQ(train(task, options).step, 12);
}

}  // namespace
}  // namespace averaged_run_test
}  // namespace sextant
