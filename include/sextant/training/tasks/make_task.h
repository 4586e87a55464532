// Makes a task from settings: reads the data, learns the tokenizer, makes the model.
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
  std::size_t train = 0, held_out = 0;  // the number of these units
  std::int64_t parameters = 0;          // number of learned parameters
  std::int64_t steps_per_epoch = 0;
  // Checksum of the training tokens: equal if tasks learn from the same tokens.
  std::string checksum;
  // The files that it wrote into a new run's folder: see make_task().
  std::shared_ptr<const void> kept{};
};

// Sets the checksums and the model's vocabulary of a new run; for a resumed run (`resumed`: its
// folder, else empty) compares the checksums and uses the tokenizer that it saved.
//
// Tokens of texts are files in plan.trainer.folder (empty: in memory):
// FOLDER/data/tokens.safetensors and the tokenizer's. The first rank of a TrainingGroup writes
// them, before the others call. They are removed with the last copy of `kept`, unless the run has a
// checkpoint by then.
//
// Throws an Error with the file for data that cannot be read, is too small, or has changed.
PlannedTask make_task(TrainingPlan& plan, const std::string& resumed);

}  // namespace sextant
