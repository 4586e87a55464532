// The program onnx_conformance as a function, so that tests can run it and read what it prints.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace sextant::onnx {

// The folders of the cases in a folder, by name; names that begin with a dot are none.
std::vector<std::string> cases_in(const std::string& folder);

// `arguments` without the program's name: one folder. A line per case, then "N passed, N failed".
// Returns 0 when there was a case and all passed, 1 otherwise, and 2 for wrong arguments.
int run_program(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace sextant::onnx
