// Collects what a shell can complete: the commands of the program and the options in the help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"

namespace sextant::app {

// The values of an option or of the arguments without a name.
struct Completions {
  std::vector<std::string> words;
  bool files = false;

  bool operator==(const Completions&) const = default;
};

struct CompletedOption {
  std::vector<std::string> names;  // "-o", "--output"
  std::string meaning;             // one line
  std::string type;                // of its value, "FILE"; empty for a flag
  Completions values;
};

struct CompletedCommand {
  std::string name, path;  // "losses", "sextant plot losses"
  std::string meaning;
  std::vector<CompletedOption> options;
  Completions arguments;
  std::vector<CompletedCommand> inner;
};

CompletedCommand completed(CLI::App& program);

// `command` and all inner ones, the outer before the inner.
std::vector<const CompletedCommand*> all_of(const CompletedCommand& command);

// `text` with the word COMMANDS replaced by the paths of the inner commands, in quotes.
std::string with_commands(std::string text, const CompletedCommand& program,
                          std::string_view separator);

// The functions of a shell that complete `program`, as text.
std::string bash_script(const CompletedCommand& program);
std::string zsh_script(const CompletedCommand& program);
std::string fish_script(const CompletedCommand& program);

}  // namespace sextant::app
