// Where the tests' files lie. Functions, not macros: a path on every compile line would keep a
// compiler cache from serving a second clone.
#pragma once

#include <string>

namespace sextant::tests {

std::string data_folder();    // tests/ in the source tree: golden files, configs, hostile inputs
std::string shared_folder();  // test vectors beside the project; a user has none
std::string program();        // the command line under test

}  // namespace sextant::tests
