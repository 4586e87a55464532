// Runs `sextant train` with its parsed options.
#pragma once

#include "sextant/training/group.h"
#include "training/train_options.h"

namespace sextant::app {

// Returns the exit code. `group`: nullptr, or the ranks, of which the first one tells how it goes.
int run_training(const TrainOptions& options, const CLI::App& command, TrainingGroup* group);

}  // namespace sextant::app
