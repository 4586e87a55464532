// Names that an option takes, kept with the option: for the completions of shells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"

namespace sextant::app {

// Says which names an option takes, and checks nothing; one_of() does both. Returns the option.
CLI::Option* offer(CLI::Option* option, const std::vector<std::string_view>& names);
// The same of a check that an option gets.
CLI::Validator named(CLI::Validator check, const std::vector<std::string_view>& names);
// Returns the choices declared for an option; empty: none.
std::vector<std::string> choices_of(CLI::Option& option);

}  // namespace sextant::app
