// Training: tasks, the optimiser, learning rates, checkpoints and the loop over steps.
#pragma once

#include "sextant/training/optimiser.h"
#include "sextant/training/schedule.h"
#include "sextant/training/task.h"
