// Commands that train, under mpirun.
#pragma once

#include <functional>

#include "options/command_line.h"
#include "sextant/training/group.h"

namespace sextant::app {

// Runs `work`, which returns the exit code, as one of the ranks that a launcher started; with
// nullptr if it started none. One rank prints an error that all have. `context_parallel`: the
// number of ranks that hold a part of each sequence. Throws Error if ranks run different commands
// or options, if there are no ranks for the sequences, and in a program without MPI that was
// started as several.
void on_ranks(CLI::App& command, const std::function<int(TrainingGroup*)>& work,
              int context_parallel = 1);

// That Error.
void check_no_context_parallel(int context_parallel, const char* why);

}  // namespace sextant::app
