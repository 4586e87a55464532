// The help of the program and its commands: at most as wide as the terminal.
#pragma once

#include <memory>

#include "options/command_line.h"

namespace sextant::app {

// Returns CLI11's help with lines broken at terminal_width(), within 60 and 100 columns, and
// without repeating the descriptions.
std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace sextant::app
