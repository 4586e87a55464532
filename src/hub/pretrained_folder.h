// What the readers of Hugging Face folders share.
#pragma once

#include <functional>
#include <string>

namespace sextant::hub {

// Returns the folder with the files: for a model in the cache of huggingface_hub,
// models--ORG--NAME, the snapshot of its main revision; any other folder itself.
std::string folder_of_files(const std::string& folder);

// Returns the text of config.json. Throws Error for a folder without it.
std::string read_config_file(const std::string& folder);

// Runs the check of a configuration that was read from `path`, which its error then names.
void check_ranges(const std::string& path, const std::function<void()>& check);

// Throws for weights that only a program that trusts the file can read.
void refuse_pickle(const std::string& folder);

}  // namespace sextant::hub
