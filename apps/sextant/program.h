// The command line as a function: the program calls it, and Python's `python -m sextant`.
#pragma once

namespace sextant::app {

// Runs one command and gives the exit code: 0, 1 for unusable input, 2 for a wrong command line.
// It takes over the process's streams and signals, so it is called once, first of all.
int run_program(int argc, char** argv);

}  // namespace sextant::app
