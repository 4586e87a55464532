// Data is the same whenever a run goes on.
#pragma once

#include <string>

#include "sextant/core/error.h"
#include "sextant/training/tasks/training_plan.h"

namespace sextant {

// Compares what a file holds with what it held when the run began, or keeps it.
inline void check_data(DataFile& file, const std::string& found) {
  if (!file.checksum.empty() && file.checksum != found) {
    throw Error(file.path, "must be the same as at the start of the run, but has changed");
  }
  file.checksum = found;
}

}  // namespace sextant
