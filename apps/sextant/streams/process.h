// What the system hands to a program, set right before the first command: streams and signals.
#pragma once

#include <signal.h>

#include <array>

namespace sextant::app {

// What a person or a closed terminal ends a program with.
inline constexpr std::array<int, 3> kEndSignals = {SIGINT, SIGTERM, SIGHUP};

// Opens the null device in the place of standard streams that are closed, or the next file would
// get their number and what is printed. A reader of stdout that leaves is no signal. The signals
// that end the program remove temporary files first; what was ignored stays ignored.
void prepare_process();

}  // namespace sextant::app
