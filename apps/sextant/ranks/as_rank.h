// A command as one of the ranks that a launcher started.
#pragma once

#include <functional>
#include <string>

#include "options/command_line.h"
#include "sextant/core/error.h"
#include "sextant/ranks/communicator.h"

namespace sextant::app {

// Starts MPI, compares the command, its options and the version of the program on all ranks, then
// runs `work`, which returns the exit code, and ends MPI. Options may differ in --threads and in
// the paths of input files. One rank prints an error that all ranks have, in the words of
// `text_of`. If others have not started MPI or compared their command after 120 seconds
// (SEXTANT_START_SECONDS), it says so and ends this process, so that the launcher ends all.
void as_rank(CLI::App& command, const std::function<int(const ranks::Communicator&)>& work,
             const std::function<std::string(const Error&)>& text_of);

}  // namespace sextant::app
