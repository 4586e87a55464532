// Training: tasks, the optimiser, learning rates, checkpoints and the loop over steps.
#pragma once

#include "sextant/training/checkpoint.h"
#include "sextant/training/epochs.h"
#include "sextant/training/extrapolation.h"
#include "sextant/training/extrapolation_run.h"
#include "sextant/training/language_task.h"
#include "sextant/training/metrics.h"
#include "sextant/training/optimiser.h"
#include "sextant/training/progress.h"
#include "sextant/training/schedule.h"
#include "sextant/training/subword_dropout.h"
#include "sextant/training/task.h"
#include "sextant/training/trainer.h"
#include "sextant/training/translation_task.h"
