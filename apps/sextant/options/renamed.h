// Options under the names that they had: taken for one version more, shown nowhere.
#pragma once

#include <string>
#include <vector>

namespace sextant::app {

// `words` are those of a command line, the command's name first; old names of options become those
// of today.
void rename_options(std::vector<std::string>& words);

}  // namespace sextant::app
