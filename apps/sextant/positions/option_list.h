// The options of commands that come from lists of fields, as data: for the controls of a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/field_options.h"

namespace sextant::app {

inline const std::vector<std::string> kListedCommands = {"attend", "generate", "train"};

// Those of one of the listed commands, in the order of its help.
std::vector<CommandOption> options_of_command(std::string_view command);

}  // namespace sextant::app
