// The commands: each file adds one to the program and runs it when it was asked for.
#pragma once

#include <functional>

#include "options/command_line.h"

namespace sextant::app {

// The work of a command after the whole command line is understood. There are two phases with two
// exit codes: an exception while the command line is parsed, also in callbacks, is a wrong command
// line (2); an exception of a job is unusable input (1).
using Job = std::function<void()>;
// Thrown by a job that is done, to end with a code that says how.
struct EndWith {
  int code;
};

// Adds all commands, in the groups and the order of the help.
void add_commands(CLI::App& program, Job& job);

// Every one leaves its job in `job` when its command was asked for; the job keeps the options
// alive.
void add_encode(CLI::App& program, Job& job);
void add_plot(CLI::App& program, Job& job);
void add_plot_losses(CLI::App& plot, Job& job);  // commands of `plot`
void add_plot_extrapolation(CLI::App& plot, Job& job);
void add_attend(CLI::App& program, Job& job);
void add_attention(CLI::App& program, Job& job);
void add_compare(CLI::App& program, Job& job);
void add_extrapolate(CLI::App& program, Job& job);
void add_similarity(CLI::App& program, Job& job);
void add_embed(CLI::App& program, Job& job);
void add_recommend(CLI::App& program, Job& job);
void add_vocabulary(CLI::App& program, Job& job);
void add_tokenize(CLI::App& program, Job& job);
void add_convert_rotary(CLI::App& program, Job& job);
void add_resize_grid(CLI::App& program, Job& job);
void add_identify(CLI::App& program, Job& job);
void add_logit_lens(CLI::App& program, Job& job);
void add_generate(CLI::App& program, Job& job);
void add_translate(CLI::App& program, Job& job);
void add_evaluate(CLI::App& program, Job& job);
void add_train(CLI::App& program, Job& job);
void add_average(CLI::App& program, Job& job);
void add_export(CLI::App& program, Job& job);
void add_report(CLI::App& program, Job& job);
void add_list(CLI::App& program, Job& job);
void add_info(CLI::App& program, Job& job);
void add_completion(CLI::App& program, Job& job);

}  // namespace sextant::app
