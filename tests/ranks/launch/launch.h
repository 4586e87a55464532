// Programs started as ranks, as a user starts them.
#pragma once

#include <string>

namespace sextant::ranks {

// Where the parts of this build lie.
std::string phases_program();
std::string training_phases_program();
std::string sextant_program();

struct Ended {
  int code = -1;
  double seconds = 0;
  std::string text;  // of both streams
};

// Runs `mpirun -n count command`, for 100 s at most (code 124).
Ended launch(int count, const std::string& command);
// The same command as one process, without mpirun.
Ended run_alone(const std::string& command);

}  // namespace sextant::ranks
