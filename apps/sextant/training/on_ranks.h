// Commands that train, under mpirun.
#pragma once

#include <functional>

#include "sextant/training/group.h"

namespace sextant::app {

// Runs `work`, which returns the exit code, as one of the ranks that a launcher started; with
// nullptr where it started none, or in a program without MPI. An error that all ranks have is told
// by one.
void on_ranks(const std::function<int(TrainingGroup*)>& work);

}  // namespace sextant::app
