// Run folders by themselves: what they refuse to keep.
#include "sextant/training/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/training/adamw.h"
#include "training/run_folders.h"
#include "training/runs/state_file.h"
#include "training/toy_task.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Checkpoints : public RunFolders {
 protected:
  void step() { optimiser_.step(task_.parameters(), task_.gradients(), 0.1); }

  ToyTask task_{1};
  AdamW optimiser_{task_.parameters()};
};

TEST_F(Checkpoints, KeepTheLastAndTheBest) {
  RunFolder run = RunFolder::create(path("run"), "{}");
  EXPECT_FALSE(run.last_step());
  EXPECT_EQ(run.load(task_, optimiser_).step, 0) << "nothing was saved yet";
  for (const std::int64_t best : {1, 2, 2, 2, 5}) {
    step();
    run.save(task_, optimiser_,
             {.step = optimiser_.steps(), .best_loss = 1.0 / 3, .best_step = best});
    EXPECT_EQ(run.last_step(), optimiser_.steps());
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path("run"))) {
      if (entry.is_directory() && !entry.is_symlink()) names.push_back(entry.path().filename());
    }
    EXPECT_EQ(names.size(), best == optimiser_.steps() ? 1U : 2U);
    EXPECT_EQ(fs::read_symlink(path("run/best")), "checkpoint-00000000" + std::to_string(best));
  }
  ToyTask other(2);
  AdamW fresh(other.parameters());
  const TrainingState state = run.load(other, fresh);
  EXPECT_EQ(state.step, 5);
  EXPECT_EQ(state.best_loss, 1.0 / 3) << "to the last bit";
  EXPECT_EQ(fresh.steps(), 5);
  EXPECT_EQ(weights_of(other), weights_of(task_));
}

TEST_F(Checkpoints, AreNeverMadeOfNumbersThatAreNone) {
  RunFolder run = RunFolder::create(path("run"), "{}");
  step();
  run.save(task_, optimiser_, {.step = 1});
  step();
  (*task_.parameters()[0].tensor)(2, 3) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT([&] { run.save(task_, optimiser_, {.step = 2}); },
              ThrowsMessage<Error>("[checkpoint.weights] must be finite"));
  EXPECT_EQ(run.last_step(), 1);
}

TEST_F(Checkpoints, AreOfTheOptimisersStep) {
  RunFolder run = RunFolder::create(path("run"), "{}");
  step();
  EXPECT_THAT([&] { run.save(task_, optimiser_, {.step = 2}); },
              ThrowsMessage<Error>(HasSubstr("[checkpoint.step] must be the optimiser's")));
  run.save(task_, optimiser_, {.step = 1});
  EXPECT_THROW(run.save(task_, optimiser_, {.step = 1}), Error);
}

TEST_F(Checkpoints, NeedATaskThatSavesItsParameters) {
  RunFolder run = RunFolder::create(path("run"), "{}");
  step();
  task_.on_save = [](const std::string& folder) {
    ToyTask other(2);
    save_parameters(folder + "/model.safetensors", other.parameters());
  };
  EXPECT_THAT([&] { run.save(task_, optimiser_, {.step = 1}); },
              ThrowsMessage<Error>("[task.save_model] must save the parameters unchanged, by "
                                   "their names, in float32 in model.safetensors"));
  EXPECT_FALSE(run.last_step());
  task_.on_save = [](const std::string& folder) { fs::remove(folder + "/model.safetensors"); };
  EXPECT_THROW(run.save(task_, optimiser_, {.step = 1}), Error);
  // Whatever else the model needs is kept, and looked at before it is trusted.
  task_.on_save = [](const std::string& folder) {
    fs::create_directory(folder + "/tokenizer");
    write_file(folder + "/tokenizer/words.json", "[]");
  };
  run.save(task_, optimiser_, {.step = 1});
  write_file(path("run/last/tokenizer/words.json"), "{}");
  EXPECT_THAT(
      [&] { run.load(task_, optimiser_); },
      ThrowsMessage<Error>(HasSubstr("tokenizer/words.json] is corrupt: checksum mismatch")));
}

TEST_F(Checkpoints, OfAnotherProgramAreRefused) {
  const auto refuses = [&](const std::string& change, const std::string& message) {
    write_state(path("."), {.step = 7});
    auto json = Json::parse(read_file(path("training.json")));
    json.update(Json::parse(change));
    json.erase("checksum");
    json.sort_keys();
    json["checksum"] = checksum_of(json.dump());
    json.sort_keys();
    write_file(path("training.json"), json.dump(2) + "\n");
    EXPECT_THAT([&] { check_files(path(".")); }, ThrowsMessage<Error>(HasSubstr(message)));
    std::filesystem::remove(path("training.json"));
  };
  refuses(R"({"format": 1})", "training.json] must have format 2");
  refuses(R"({"step": -1})", "step must be 0 .. ");
  refuses(R"({"best_step": 8})", "best_step must be 0 .. 7, got 8");
  refuses(R"({"metrics_bytes": -5})", "metrics_bytes must be 0 .. ");
  refuses(R"({"tokens": 9223372036854775808})", "training.json] must be a training state: ");
  for (const char* change :
       {R"({"format": "1"})", R"({"step": "x"})", R"({"best_loss": []})", R"({"files": 3})",
        R"({"files": ["x"]})", R"({"files": {"a": {"bytes": 3}}})"}) {
    refuses(change, "training.json] must be a training state: ");
  }
  for (const char* text : {"", "[]", "{}", R"({"checksum": 1})", "{\"checksum\": \"\xff\"}"}) {
    write_file(path("training.json"), text);
    EXPECT_THAT([&] { read_state(path(".")); }, ThrowsMessage<Error>(HasSubstr("training.json]")));
  }
}

}  // namespace
}  // namespace sextant
