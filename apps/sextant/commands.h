// The commands: each file adds one to the program and runs it when it was asked for.
#pragma once

#include <CLI/CLI.hpp>

namespace sextant::app {

// Every one keeps its options alive inside the command's callback. Errors are thrown: main says
// them.
void add_encode(CLI::App& program);
void add_plot(CLI::App& program);
void add_attend(CLI::App& program);
void add_compare(CLI::App& program);
void add_similarity(CLI::App& program);
void add_identify(CLI::App& program);
void add_report(CLI::App& program);
void add_list(CLI::App& program);
void add_info(CLI::App& program);

}  // namespace sextant::app
