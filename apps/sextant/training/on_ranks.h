// Commands that train, under mpirun.
#pragma once

#include <functional>

#include "sextant/training/group.h"

namespace sextant::app {

// Runs `work`, which returns the exit code, as one of the ranks that a launcher started; with
// nullptr where it started none, or in a program without MPI. An error that all ranks have is told
// by one. `sequence_ranks`: how many of them hold a part of each sequence; throws Error where there
// are no ranks for it.
void on_ranks(const std::function<int(TrainingGroup*)>& work, int sequence_ranks = 1);

// That Error.
void check_no_sequence_ranks(int sequence_ranks, const char* why);

}  // namespace sextant::app
