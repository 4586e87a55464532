// Shows the progress of a training, and handles signals that stop it.
#pragma once

#include <string>

#include "sextant/training/group.h"
#include "sextant/training/progress.h"
#include "streams/console.h"

namespace sextant::app {

// While an object lives, the first SIGINT, SIGTERM or SIGHUP (a closed terminal) is remembered, and
// the second ends the program as usual. Ignored signals stay ignored.
class StopSignals {
 public:
  explicit StopSignals(bool tells = true);  // a line that it stops
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static int caught() noexcept;  // its number, or 0
};

// Which signal stopped a training, the same on all ranks: any of them may have caught one.
int stopping_signal(TrainingGroup* group);

// A line that is rewritten on a terminal; else a line at the first step, at validations and every
// half minute.
class TrainProgress {
 public:
  void show(const TrainingProgress& progress);

 private:
  Progress line_{""};
  LastValidation validation_;
  double shown_at_ = -1;  // StepMetrics::seconds
};

}  // namespace sextant::app
