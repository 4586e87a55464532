// Prepares the streams and signals of the process before the first command.
#pragma once

#include <signal.h>

#include <array>

namespace sextant::app {

// The signals by which a person or a closed terminal ends a program.
inline constexpr std::array<int, 3> kEndSignals = {SIGINT, SIGTERM, SIGHUP};

// Opens the null device for standard streams that are closed; otherwise the next file would get
// their number and the printed text. A reader of stdout that leaves causes no signal. The signals
// that end the program remove temporary files first; ignored signals stay ignored.
void prepare_process();

}  // namespace sextant::app
