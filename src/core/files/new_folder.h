// A folder that is there whole or not at all.
#pragma once

#include <functional>
#include <string>

namespace sextant {

// fill(PATH) writes the contents into a folder beside, which then gets the name `path`: nothing
// stays if it throws. What a killed process left beside it is removed. Throws Error naming the path
// for one that exists, and where it cannot be made.
void make_new_folder(const std::string& path, const std::function<void(const std::string&)>& fill);

}  // namespace sextant
