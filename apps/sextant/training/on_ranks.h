// Commands that train, under mpirun.
#pragma once

#include <functional>

#include "options/command_line.h"
#include "sextant/training/group.h"

namespace sextant::app {

// Runs `work`, which returns the exit code, as one of the ranks that a launcher started; with
// nullptr where it started none. An error that all ranks have is told by one. `context_parallel`:
// how many of them hold a part of each sequence. Throws Error where ranks run another command or
// options, where there are no ranks for the sequences, and in a program without MPI that was
// started as several.
void on_ranks(CLI::App& command, const std::function<int(TrainingGroup*)>& work,
              int context_parallel = 1);

// That Error.
void check_no_context_parallel(int context_parallel, const char* why);

}  // namespace sextant::app
