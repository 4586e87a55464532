// A folder that is there whole or not at all.
#pragma once

#include <functional>
#include <string>

namespace sextant {

// Calls fill(PATH) to write the contents into a folder in the same place, which then gets the name
// `path`; if it throws, nothing remains. Removes the rests of a killed process. Throws an Error
// with the path for one that exists, and if it cannot be made.
void make_new_folder(const std::string& path, const std::function<void(const std::string&)>& fill);

}  // namespace sextant
