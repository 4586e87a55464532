// One step's loss and gradients, over all of its batches and ranks.
#pragma once

#include <cstdint>

#include "sextant/training/task.h"
#include "sextant/training/trainer.h"
#include "training/gradients/group_or_self.h"

namespace sextant {

// Into task.gradients(), which are zero. `step` counts from 0. Throws Error for a task that does
// not add up.
LossSum sum_gradients(TrainingTask& task, std::int64_t step, const TrainerOptions& options,
                      const GroupOrSelf& group, Workspace& memory);

}  // namespace sextant
