// Files that a command line names: which options read and write them is said where the options are
// added, and all are looked at together before the command begins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"

namespace sextant::app {

// The relation of an option's values to files.
enum class FileUse {
  none,
  reads,          // paths of files or folders; "-" is stdin
  reads_text,     // texts; "-" is stdin
  reads_rule,     // a word and a path: "padded:mask.npy"
  reads_schemes,  // schemes, some of whose parameters are paths: "learned:file=table.npy"
  writes,         // paths of files or folders; "-" is stdout
};

// Mark an option and name its values in the help. They return the option.
CLI::Option* input_file(CLI::Option* option, const std::string& type = "FILE");
CLI::Option* output_file(CLI::Option* option, const std::string& type = "FILE");
CLI::Option* rule_with_file(CLI::Option* option, const std::string& type);
CLI::Option* text_or_stdin(CLI::Option* option);
// `names`: the schemes that it takes.
CLI::Option* scheme_list(CLI::Option* option, const std::string& type,
                         const std::vector<std::string_view>& names);

FileUse file_use(CLI::Option& option);

// Throws Error when stdin is read for two arguments.
void check_stdin(CLI::App& command);

// Throws Error if a file that `command` would write is one that it reads under any name: files are
// compared by device and inode, so links of both kinds are found. Standard streams and the files of
// a model's or a training's folder count. The same for two results in one file.
void check_files(CLI::App& command);

}  // namespace sextant::app
