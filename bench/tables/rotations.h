// The table of every rotation beside plain rotary's of the same size.
#pragma once

#include <string>
#include <vector>

namespace sextant::bench {

struct RotationResult {
  std::string name;
  int threads;
  double best, plain_best;  // seconds
  double ratio() const { return best / plain_best; }
};

// Prints a line for each and returns them.
std::vector<RotationResult> measure_rotations(int repeats, bool quick);

}  // namespace sextant::bench
