// Reads and writes training.json: the state of a training, and checksums of the files next to it.
#pragma once

#include <string>

#include "sextant/training/checkpoint.h"

namespace sextant {

// Writes folder/training.json with the sizes and checksums of all files in the folder and below it,
// each flushed.
void write_state(const std::string& folder, const TrainingState& state);

// Reads it. Throws Error that names the file for anything that write_state would not have written.
TrainingState read_state(const std::string& folder);
// Compares all files that it names with their checksums.
void check_files(const std::string& folder);

}  // namespace sextant
