// What was built and what runs here, for `info` and for the foot of a report.
#pragma once

#include <string>

#include "streams/console.h"

namespace sextant::app {

Json environment();
std::string environment_line();  // one line

}  // namespace sextant::app
