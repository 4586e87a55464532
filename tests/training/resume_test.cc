// Runs that are interrupted and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "training/run_folders.h"
#include "training/toy_task.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Resume : public RunFolders {
 protected:
  Resume() {
    ToyTask task(1);
    train(task, toy_options(path("straight")));
  }
  // A run that is asked to stop after `step`.
  void train_until(std::int64_t step) {
    ToyTask task(1);
    TrainerOptions options = toy_options(path("run"));
    std::int64_t done = 0;
    options.should_stop = [&](const StepMetrics&) { return ++done == step; };
    const TrainingResult result = train(task, options);
    EXPECT_EQ(result.step, step);
    EXPECT_EQ(result.end, step < options.steps ? TrainingEnd::stopped : TrainingEnd::steps);
  }
  TrainerOptions resumed() const {
    TrainerOptions options = toy_options(path("run"));
    options.resume = true;
    return options;
  }
  void refuses(const TrainerOptions& options, const std::string& part) {
    ToyTask task(1);
    const auto before = weights_of(task);
    const auto there = contents_of(path("run"));
    EXPECT_THAT([&] { train(task, options); }, ThrowsMessage<Error>(HasSubstr(part)));
    EXPECT_EQ(weights_of(task), before);
    EXPECT_EQ(contents_of(path("run")), there);
  }
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
};

TEST_F(Resume, AfterAnyStepGivesTheRunThatWasNotStopped) {
  for (const std::int64_t step : {1, 2, 3, 6, 7, 11, 12}) {
    train_until(step);
    ToyTask task(99);  // other weights: they come from the checkpoint
    train(task, resumed());
    EXPECT_EQ(differences(path("run"), path("straight")), "") << step;
    fs::remove_all(path("run"));
  }
}

TEST_F(Resume, OfMuonGivesTheRunThatWasNotStopped) {
  TrainerOptions options = toy_options(path("whole"));
  options.optimiser.method = OptimiserMethod::muon;
  ToyTask whole(1);
  train(whole, options);
  EXPECT_NE(read_file(path("whole/last/model.safetensors")),
            read_file(path("straight/last/model.safetensors")));
  options.folder = path("run");
  for (const std::int64_t step : {1, 5, 12}) {
    options.should_stop = [step](const StepMetrics& now) { return now.step == step; };
    ToyTask task(1);
    train(task, options);
    options.resume = true;
  }
  EXPECT_EQ(differences(path("run"), path("whole")), "");
}

TEST_F(Resume, OfAFinishedRunDoesNothing) {
  ToyTask task(99);
  TrainerOptions options = resumed();
  options.folder = path("straight");
  const auto before = contents_of(path("straight"));
  const TrainingResult result = train(task, options, [](const TrainingProgress&) { FAIL(); });
  EXPECT_EQ(result.step, 12);
  EXPECT_EQ(result.tokens, 12 * ToyTask::kExamples);
  EXPECT_EQ(contents_of(path("straight")), before);
  ToyTask trained(1);
  load_parameters(path("straight/last/model.safetensors"), trained.parameters());
  EXPECT_EQ(weights_of(task), weights_of(trained)) << "but load it";
}

TEST_F(Resume, WithMoreStepsGoesFurther) {
  ToyTask task(1);
  TrainerOptions options = resumed();
  options.folder = path("straight");
  options.steps = 15;
  EXPECT_EQ(train(task, options).step, 15);
  EXPECT_EQ(loss_curves(path("straight/metrics.jsonl")).steps.size(), 15U);
}

TEST_F(Resume, NeedsNoOptionsButALimit) {
  ToyTask task(1);
  TrainerOptions options = toy_options(path("run"));
  options.settings = R"({"width": 8, "name": "toy"})";
  options.steps = 5;
  train(task, options);
  options.resume = true;
  options.settings = R"({"name": "toy", "width": 8})";
  train(task, options);  // the order means nothing
  TrainerOptions read = read_run(path("run"));
  EXPECT_TRUE(read.resume);
  EXPECT_EQ(read.seed, options.seed);
  EXPECT_EQ(read.settings, R"({"width":8,"name":"toy"})");
  read.steps = 12;
  read.validate_every = 3;
  read.clock = options.clock;
  train(task, read);
  EXPECT_EQ(read_file(path("run/last/optimiser.safetensors")),
            read_file(path("straight/last/optimiser.safetensors")));
}

TEST_F(Resume, GoesOnCountingValidationsThatAreNoBetter) {
  ToyTask task(1);
  task.on_validate = [](LossSum& sum) { sum.loss = 5; };
  TrainerOptions options = toy_options(path("run"));
  options.steps = 100;
  options.patience = 3;
  options.should_stop = [](const StepMetrics&) { return true; };
  TrainingResult result = train(task, options);
  options.resume = true;
  for (std::int64_t step = 2; result.end == TrainingEnd::stopped; ++step) {
    result = train(task, options);
    EXPECT_EQ(result.step, step);
  }
  EXPECT_EQ(result.end, TrainingEnd::patience);
  EXPECT_EQ(result.step, 12) << "the best after 3, three more validations";
  EXPECT_EQ(result.best_step, 3);
}

TEST_F(Resume, CutsOffTheMetricsOfStepsThatAreMadeAgain) {
  train_until(7);
  std::ofstream(path("run/metrics.jsonl"), std::ios::app) << "{\"step\": 8}\n{\"step\": 9, \"lo";
  ToyTask task(1);
  train(task, resumed());
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Resume, ClearsAwayWhatWasHalfWrittenAndNothingElse) {
  train_until(7);
  fs::create_directories(path("run/checkpoint-000000008.tmp/sub"));
  fs::create_symlink("nowhere", path("run/last.tmp"));
  write("run/.sextant-999999999-0.tmp", "of a process that is no more");
  const std::vector<std::string> kept = {"notes.txt", "checkpoint-8", "checkpoint-abc",
                                         "checkpoint-000000008.tmp.txt"};
  for (const std::string& name : kept) write("run/" + name, "mine");
  ToyTask task(1);
  train(task, resumed());
  for (const std::string& name : kept) {
    EXPECT_EQ(read_file(path("run/" + name)), "mine");
    fs::remove(path("run/" + name));
  }
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Resume, SetsTheLinksRight) {
  train_until(7);
  fs::remove(path("run/last"));
  fs::remove(path("run/best"));
  fs::create_symlink("checkpoint-000000001", path("run/best"));
  ToyTask task(1);
  train(task, resumed());
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Resume, OfARunWhoseCheckpointsAreGoneIsRefused) {
  train_until(7);
  for (const char* name : {"run/checkpoint-000000006", "run/checkpoint-000000007"}) {
    fs::remove_all(path(name));
  }
  refuses(resumed(),
          "run/last] must lead to a checkpoint, got checkpoint-000000007, which is missing");
  fs::remove(path("run/last"));
  refuses(resumed(),
          "run/best] must lead to a checkpoint, got checkpoint-000000006, which is missing");
  ToyTask task(1);
  EXPECT_THAT([&] { train(task, toy_options(path("run"))); },
              ThrowsMessage<Error>(HasSubstr("must hold no other run")));
}

// The weights and the metrics are those of the run that lost nothing.
TEST_F(Resume, GoesOnWithoutItsBestCheckpoint) {
  for (const bool has_link : {true, false}) {
    train_until(7);
    ASSERT_EQ(fs::read_symlink(path("run/best")), "checkpoint-000000006");
    fs::remove_all(path("run/checkpoint-000000006"));
    if (!has_link) fs::remove(path("run/best"));
    ToyTask task(1);
    const TrainingResult result = train(task, resumed());
    EXPECT_EQ(result.lost_best_step, 6);
    EXPECT_GT(result.best_step, 7);
    EXPECT_TRUE(fs::exists(path("run/best/model.safetensors")));
    for (const char* name : {"/last/model.safetensors", "/metrics.jsonl"}) {
      EXPECT_EQ(read_file(path("run") + name), read_file(path("straight") + name));
    }
    fs::remove_all(path("run"));
  }
}

// A link that leads nowhere is not left behind.
TEST_F(Resume, HasNoBestUntilTheNextValidation) {
  train_until(7);
  fs::remove_all(path("run/checkpoint-000000006"));
  ToyTask task(1);
  TrainerOptions options = resumed();
  options.should_stop = [&](const StepMetrics& metrics) {
    EXPECT_FALSE(metrics.step == 8 && fs::is_symlink(path("run/best")));
    return false;
  };
  EXPECT_EQ(train(task, options).step, 12);
}

// What docs/models.md advises.
TEST_F(Resume, GoesOnFromThePreviousCheckpointWhereADamagedOneIsRemoved) {
  train_until(7);
  write("run/checkpoint-000000007/model.safetensors", "damaged");
  refuses(resumed(), "run/checkpoint-000000007/model.safetensors]");
  fs::remove_all(path("run/checkpoint-000000007"));
  ToyTask task(1);
  train(task, resumed());
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Resume, OfARunThatWasKilledBeforeItsFirstCheckpointBeginsAgain) {
  fs::create_directory(path("run"));
  fs::copy_file(path("straight/run.json"), path("run/run.json"));
  write("run/metrics.jsonl", "{\"step\":1}\n");
  ToyTask task(1);
  train(task, resumed());
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Resume, NeedsARunAndAStartNeedsNone) {
  ToyTask task(1);
  TrainerOptions options = resumed();
  EXPECT_THAT([&] { train(task, options); },
              ThrowsMessage<Error>("[" + path("run") +
                                   "] cannot be opened: No such file or "
                                   "directory"));
  fs::create_directory(path("run"));
  EXPECT_THAT([&] { train(task, options); },
              ThrowsMessage<Error>(HasSubstr("run.json] cannot be opened")));
  options = toy_options(path("straight"));
  EXPECT_THAT([&] { train(task, options); },
              ThrowsMessage<Error>(AllOf(HasSubstr(path("straight") + "] must hold no other run"),
                                         HasSubstr("resume that run or name another folder"))));
}

TEST_F(Resume, NeedsTheSameRun) {
  train_until(7);
  TrainerOptions options = resumed();
  options.seed = 4;
  refuses(options, "run.json] must have the same seed to be resumed: it is 3, asked for 4");
  options = resumed();
  options.schedule.peak = 0.5;
  refuses(options, "must have the same schedule.peak to be resumed: it is 0.05, asked for 0.5");
  options = resumed();
  options.optimiser.method = OptimiserMethod::muon;
  refuses(options,
          "must have the same optimiser.method to be resumed: it is \"adamw\", asked for \"muon\"");
  options = resumed();
  options.settings = R"({"width": 9})";
  refuses(options, "must have the same settings.width to be resumed: it is null, asked for 9");
  write("run/run.json", "{");
  refuses(resumed(), "run.json] must be valid JSON, got an error at byte 2");
  EXPECT_THAT([&] { read_run(path("run")); }, ThrowsMessage<Error>(HasSubstr("run.json]")));
  write("run/run.json", R"({"format": 1})");
  EXPECT_THAT([&] { read_run(path("run")); },
              ThrowsMessage<Error>(HasSubstr("must be a run's description of format 2, got 1, of "
                                             "an earlier version")));
  write("run/run.json", R"({"format": 2})");
  EXPECT_THAT([&] { read_run(path("run")); }, ThrowsMessage<Error>(HasSubstr("is corrupt")));
}

// As somebody who edits the file would.
TEST_F(Resume, RefusesARunThatWasEdited) {
  train_until(7);
  const std::string kept = read_file(path("run/run.json"));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"seed\": 3", "\"seed\": 4"},
           {"\"seed\": 3", "\"seed\": -1"},
           {"\"weight_decay\": 0.01", "\"weight_decay\": 0.1"},
           {"\"epsilon\": 1e-08", "\"epsilon\": 1e-07"},
           {"\"dropout\": 0.1", "\"dropout\": 0.2"},
           {"\"warmup\": 5", "\"warmup\": 6"},
           {"\"floor\"", "\"roof\""}}) {
    std::string edited = kept;
    ASSERT_NE(edited.find(from), edited.npos) << from;
    edited.replace(edited.find(from), from.size(), to);
    write("run/run.json", edited);
    EXPECT_THAT([&] { read_run(path("run")); },
                ThrowsMessage<Error>(HasSubstr("run.json] is corrupt: checksum mismatch")))
        << to;
    refuses(resumed(), "run.json] is corrupt: checksum mismatch");
  }
  std::string spaced = kept;  // what JSON does not mean is no matter
  spaced.insert(1, "\n\n  ");
  write("run/run.json", spaced);
  EXPECT_EQ(read_run(path("run")).seed, 3U);
}

// Whatever a checksum says: no number wraps.
TEST_F(Resume, RefusesNumbersOutOfRange) {
  const auto refuses_number = [&](const std::string& from, const std::string& to) {
    Json json = Json::parse([&] {
      std::string text = read_file(path("straight/run.json"));
      EXPECT_NE(text.find(from), text.npos) << from;
      return text.replace(text.find(from), from.size(), to);
    }());
    json.erase("checksum");
    json["checksum"] = checksum_of(json.dump());
    fs::create_directories(path("run"));
    write("run/run.json", json.dump(2) + "\n");
    EXPECT_THAT([&] { read_run(path("run")); },
                ThrowsMessage<Error>(HasSubstr("must be the run.json of a training run: ")))
        << to;
  };
  refuses_number("\"seed\": 3", "\"seed\": -1");
  refuses_number("\"seed\": 3", "\"seed\": 18446744073709551616");
  refuses_number("\"seed\": 3", "\"seed\": 2.5");
  refuses_number("\"warmup\": 5", "\"warmup\": -5");
  refuses_number("\"warmup\": 5", "\"warmup\": 1e19");
  refuses_number("\"dropout\": 0.1", "\"dropout\": 1");
  refuses_number("\"attention_dropout\": 0.0", "\"attention_dropout\": -0.5");
  refuses_number("\"beta1\": 0.9", "\"beta1\": 1.5");
  refuses_number("\"weight_decay\": 0.01", "\"weight_decay\": -0.01");
  refuses_number("\"peak\": 0.05", "\"peak\": 0");
}

// As runs that are older than an option.
TEST_F(Resume, TakesTheDefaultOfAKeyThatIsNotThere) {
  train_until(7);
  Json json = Json::parse(read_file(path("run/run.json")));
  json.erase("checksum");
  json.erase("word_dropout");
  json.erase("attention_dropout");
  json.erase("ema_decay");
  json["optimiser"].erase("method");
  json["optimiser"].erase("momentum");
  json["checksum"] = checksum_of(json.dump());
  write("run/run.json", json.dump(2) + "\n");
  EXPECT_EQ(read_run(path("run")).word_dropout, 0);
  EXPECT_EQ(read_run(path("run")).ema_decay, 0);
  EXPECT_EQ(read_run(path("run")).optimiser.method, OptimiserMethod::adamw);
  TrainerOptions other = resumed();
  other.word_dropout = 0.5;
  refuses(other, "must have the same word_dropout to be resumed: it is 0.0, asked for 0.5");
  other = resumed();
  other.attention_dropout = 0.5;
  refuses(other, "must have the same attention_dropout to be resumed: it is 0.0, asked for 0.5");
  ToyTask task(1);
  train(task, resumed());
  EXPECT_EQ(read_file(path("run/last/optimiser.safetensors")),
            read_file(path("straight/last/optimiser.safetensors")));
}

TEST_F(Resume, RefusesMetricsThatWereEdited) {
  train_until(7);
  const std::string kept = read_file(path("run/metrics.jsonl"));
  for (const std::size_t at : {kept.find("0."), kept.rfind("\"step\":7") + 7, kept.size() / 2}) {
    std::string edited = kept;
    edited[at] = edited[at] == '1' ? '2' : '1';
    write("run/metrics.jsonl", edited);
    ToyTask task(1);
    EXPECT_THAT([&] { train(task, resumed()); },
                ThrowsMessage<Error>(HasSubstr("metrics.jsonl] is corrupt: checksum mismatch")));
    EXPECT_EQ(read_file(path("run/metrics.jsonl")), edited);  // untouched
  }
  write("run/metrics.jsonl", kept);
  ToyTask task(1);
  train(task, resumed());
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Resume, IsOneProcessAtATime) {
  ToyTask task(1), second(2);
  TrainerOptions options = toy_options(path("run"));
  train(task, options, [&](const TrainingProgress& progress) {
    if (progress.metrics.step != 5) return;
    EXPECT_THAT([&] { train(second, resumed()); },
                ThrowsMessage<Error>(
                    "[" + path("run") +
                    "] must be trained by one process at a time, got another one at work"));
  });
  EXPECT_EQ(differences(path("run"), path("straight")), "");
}

TEST_F(Resume, NamesTheFileThatIsDamaged) {
  train_until(7);
  for (const std::string name : {"model.safetensors", "optimiser.safetensors", "training.json"}) {
    const std::string file = "run/checkpoint-000000007/" + name;
    const std::string good = read_file(path(file));
    // Every tenth byte, the ends too, one bit of it.
    for (std::size_t at = 0; at < good.size(); at += at + 11 < good.size() ? 10 : 1) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1);
      write(file, bad);
      ToyTask task(1);
      const auto before = weights_of(task);
      EXPECT_THAT([&] { train(task, resumed()); }, ThrowsMessage<Error>(HasSubstr(file)))
          << name << " " << at;
      EXPECT_EQ(weights_of(task), before);
    }
    write(file, good.substr(0, good.size() / 2));
    refuses(resumed(), file);
    fs::remove(path(file));
    refuses(resumed(), file);
    write(file, good);
  }
  write("run/metrics.jsonl", "");
  ToyTask task(1);
  EXPECT_THAT([&] { train(task, resumed()); },
              ThrowsMessage<Error>(HasSubstr("run/metrics.jsonl] must have the ")));
}

TEST_F(Resume, OfAnotherModelIsRefused) {
  train_until(7);
  struct Renamed final : TrainingTask {
    ToyTask toy{1};
    Parameters<float> parameters() override {
      auto list = toy.parameters();
      list[0].name = "matrix";
      return list;
    }
    Parameters<float> gradients() override { return toy.gradients(); }
    std::int64_t target_tokens(std::int64_t step) override { return toy.target_tokens(step); }
    std::int64_t batches(std::int64_t step) const override { return toy.batches(step); }
    LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) override {
      return toy.accumulate(step, batch, scale, pass);
    }
    std::int64_t validation_batches() const override { return toy.validation_batches(); }
    LossSum validate(std::int64_t batch, Pass& pass) override { return toy.validate(batch, pass); }
    void save_model(const std::string& folder) override { toy.save_model(folder); }
  } task;
  EXPECT_THAT([&] { train(task, resumed()); },
              ThrowsMessage<Error>(HasSubstr("must hold the tensor m.matrix")));
}

}  // namespace
}  // namespace sextant
