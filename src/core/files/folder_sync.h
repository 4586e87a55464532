// Names that survive a power cut.
#pragma once

#include <string>

namespace sextant {

// "." for a name alone.
std::string parent_folder(const std::string& path);

// Puts the names in a folder on the disk. 0, or the reason why not; where the file system cannot,
// or the folder may not be opened, there is nothing to be done, and that is 0.
int sync_names(const std::string& folder) noexcept;

}  // namespace sextant
