// From settings to a task: reads the data, learns the tokenizer, makes the model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/train_settings.h"
#include "sextant/training/task.h"

namespace sextant::app {

struct TrainTask {
  std::unique_ptr<TrainingTask> task;
  std::string data;             // "1,003,854 tokens, 111,540 held out"
  std::int64_t parameters = 0;  // numbers that are learned
  std::int64_t steps_per_epoch = 0;
};

// Fills in the checksums and the model's vocabulary where a run begins; compares the checksums
// where it goes on (`resumed`: its folder, else empty), and takes the tokenizer that it saved.
// Throws Error that names the file for data that cannot be read, is too little, or has changed.
TrainTask make_task(TrainPlan& plan, const std::string& resumed);

}  // namespace sextant::app
