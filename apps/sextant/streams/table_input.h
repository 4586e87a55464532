// Tables that come from files.
#pragma once

#include <string>

#include "sextant/interop/stored_table.h"

namespace sextant::app {

// parse_table() and parse_any_array() of a file, or of stdin for "-". `stored_as`: a type's name,
// or empty.
StoredTable load_table(const std::string& path, const std::string& stored_as);
StoredTable load_any_array(const std::string& path, const std::string& stored_as);

}  // namespace sextant::app
