// From settings to a task: reads the data, learns the tokenizer, makes the model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sextant/training/task.h"
#include "sextant/training/tasks/training_plan.h"

namespace sextant {

struct PlannedTask {
  std::unique_ptr<TrainingTask> task;
  const char* unit = "";                // "tokens" or "pairs"
  std::size_t train = 0, held_out = 0;  // how many of them
  std::int64_t parameters = 0;          // numbers that are learned
  std::int64_t steps_per_epoch = 0;
  std::string checksum;  // of the tokens to learn from: equal where tasks learn from the same
  std::shared_ptr<const void> kept{};  // what it wrote into a new run's folder: see make_task()
};

// Fills in the checksums and the model's vocabulary where a run begins; compares the checksums
// where it goes on (`resumed`: its folder, else empty), and takes the tokenizer that it saved.
//
// Tokens of texts are files in plan.trainer.folder (empty: in memory):
// FOLDER/data/tokens.safetensors and the tokenizer's. Of a TrainingGroup the first rank writes
// them, before the others call. They are removed with the last copy of `kept`, unless the run has a
// checkpoint by then.
//
// Throws Error that names the file for data that cannot be read, is too little, or has changed.
PlannedTask make_task(TrainingPlan& plan, const std::string& resumed);

}  // namespace sextant
