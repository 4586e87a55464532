// Recognises processes that a launcher (mpirun, srun) started together, by their environment.
#pragma once

#include <string>

namespace sextant::app {

// How many they are; 1 where nothing says so.
int launched_processes();

// Throws Error for `where` unless this process was started alone: each of several would do the
// whole work, and a rank that has started MPI would wait for it. `what` has to hold under a
// launcher, as in "must be given".
void check_started_alone(const std::string& where, const std::string& what);

}  // namespace sextant::app
