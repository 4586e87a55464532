// Manages checksums of the files of a model's folder, so that a changed file is found.
#pragma once

#include <string>

#include "core/json/json.h"
#include "sextant/core/tensor_file.h"
#include "sextant/layers/parameters.h"

namespace sextant {

// {"model.safetensors": {"bytes": 16528, "checksum": "..."}, ...} of all files in the folder and
// below it. Throws Error when one cannot be read.
Json checksums_of(const std::string& folder);

// Writes them as folder/checksums.json, after the other files.
void write_checksums(const std::string& folder);

// Compares the files with checksums.json, or the training.json of a checkpoint; the reader of the
// tensors checks theirs. A folder without either was made by other tools and is accepted. Throws an
// Error with a file that was changed.
void check_checksums(const std::string& folder);
// The same of the model's tensors alone, which are read for it; of an optimiser's state neither.
void check_weights(const std::string& folder);
// The same of tensors that were read.
void check_weights(const std::string& folder, const TensorFile& weights,
                   const FileChecksums& found);

}  // namespace sextant
