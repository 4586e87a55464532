// Errors of the library in the words of a command: "[attend_sentences.hidden] ..." is
// "[attend.hide] ...", and an error that the options alone show is a wrong command line.
#pragma once

#include <string>

#include "options/command_line.h"
#include "sextant/core/error.h"

namespace sextant::app {

struct ToldError {
  std::string text;    // "[attend.hide] ..."
  bool is_of_options;  // the command line alone determines it, not the contents of files
};

// `command`: the one that was called, with its options as they were given.
ToldError in_words_of(CLI::App& command, const Error& error);

// Returns the text after "[where] " in an error.
std::string what_of(const Error& error);

}  // namespace sextant::app
