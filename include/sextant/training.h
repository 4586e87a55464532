// Training: tasks, the optimiser, learning rates, checkpoints and the loop over steps.
#pragma once

#include "sextant/training/checkpoint.h"
#include "sextant/training/metrics.h"
#include "sextant/training/optimiser.h"
#include "sextant/training/progress.h"
#include "sextant/training/schedule.h"
#include "sextant/training/task.h"
#include "sextant/training/tasks/augment_pairs.h"
#include "sextant/training/tasks/bleu.h"
#include "sextant/training/tasks/dates.h"
#include "sextant/training/tasks/epochs.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/subword_dropout.h"
#include "sextant/training/tasks/translation_task.h"
#include "sextant/training/trainer.h"
