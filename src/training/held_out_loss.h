// Computes the loss of the held-out data, over all of its batches and ranks.
#pragma once

#include "sextant/training/task.h"
#include "training/gradients/group_or_self.h"

namespace sextant {

// Added up batch by batch, on any number of ranks.
LossSum held_out_loss(TrainingTask& task, int threads, const GroupOrSelf& group, Workspace& memory);

}  // namespace sextant
