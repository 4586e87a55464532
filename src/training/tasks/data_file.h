// Checks that the data of a resumed run is unchanged.
#pragma once

#include <string>

#include "sextant/core/error.h"
#include "sextant/training/tasks/training_plan.h"

namespace sextant {

// Compares the contents of a file with those when the run began, or stores them.
inline void check_data(DataFile& file, const std::string& found) {
  if (!file.checksum.empty() && file.checksum != found) {
    throw Error(file.path, "must be the same as at the start of the run, but has changed");
  }
  file.checksum = found;
}

}  // namespace sextant
