// What is read and what is written, by the options' names and types.
#include "options/file_arguments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/error.h"

namespace sextant::app {
namespace {

// Options that name results. Every other option for a file names one that is read.
constexpr std::string_view kOutputs[] = {"output",  "picture", "save-vectors", "weights", "lse",
                                         "dq",      "dk",      "dv",           "dbias",   "dmask",
                                         "dslopes", "dsinks",  "dscheme"};
// What a command reads in the folder of a model, of a run, and of its checkpoints.
constexpr std::string_view kReadInFolders[] = {
    "config.json",   "model.safetensors", "tokenizer.json", "tokenizer.model",
    "training.json", "checksums.json",    "run.json",       "metrics.jsonl"};
// What a training or an experiment writes into its folder.
constexpr std::string_view kWrittenInFolders[] = {
    "run.json", "metrics.jsonl", "loss.svg", "plan.json", "results.json", "extrapolation.svg"};

struct NamedFile {
  std::string option;  // as a person writes it; or the name of a standard stream
  std::string path;
  dev_t device;
  ino_t inode;

  bool operator==(const NamedFile& other) const {
    return device == other.device && inode == other.inode;
  }
};

// Takes what is a file; pipes and devices may be read and written at once.
void add(std::vector<NamedFile>& files, const std::string& option, const std::string& path,
         const struct stat& status) {
  if (S_ISREG(status.st_mode)) files.push_back({option, path, status.st_dev, status.st_ino});
}

void add_stream(std::vector<NamedFile>& files, const std::string& name, int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) == 0) add(files, name, name, status);
}

// A file, or the files of these names in a folder and below it.
void add_path(std::vector<NamedFile>& files, const std::string& option, const std::string& path,
              std::span<const std::string_view> names, std::initializer_list<const char*> below) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) return add(files, option, path, status);
  for (const char* folder : below) {
    for (const std::string_view name : names) {
      const std::string file = path + folder + "/" + std::string(name);
      if (::stat(file.c_str(), &status) == 0) add(files, option, file, status);
    }
  }
}

bool is_output(const CLI::Option& option) {
  return std::ranges::any_of(option.get_lnames(), [](const std::string& name) {
    return std::ranges::find(kOutputs, name) != std::end(kOutputs);
  });
}

// By what its help shows: FILE, FILE.tsv, DIR, F, or X for parameters of schemes, of which some are
// files.
bool is_path(const CLI::Option& option) {
  const std::string type = option.get_lnames().empty() ? option.get_name() : option.get_type_name();
  return type.starts_with("FILE") || type == "DIR" || type == "F" || type == "X" || type == "INPUT";
}

[[noreturn]] void fail(const CLI::App& command, const NamedFile& output, const std::string& what) {
  const bool stream = !output.option.starts_with("--");
  throw Error(stream ? output.option : command.get_name() + "." + output.option.substr(2), what);
}

}  // namespace

void check_files(const CLI::App& command) {
  std::vector<NamedFile> inputs, outputs;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    std::vector<std::string> values = option->results();
    const bool output = is_output(*option);
    if (output && values.empty()) values.push_back(option->get_default_str());
    for (const std::string& path : values) {
      if (output) {
        add_path(outputs, name, path, kWrittenInFolders, {""});
      } else if (path == "-") {
        add_stream(inputs, "stdin", STDIN_FILENO);
      } else if (is_path(*option)) {
        add_path(inputs, name, path, kReadInFolders, {"", "/best", "/last"});
      }
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      if (outputs[i].option != outputs[j].option && outputs[i] == outputs[j]) {
        fail(command, outputs[j],
             "must be a file of its own, got " + outputs[j].path + ", which is that of " +
                 outputs[i].option);
      }
    }
  }
  add_stream(outputs, "stdout", STDOUT_FILENO);
  for (const NamedFile& output : outputs) {
    const auto read = std::ranges::find(inputs, output);
    if (read == inputs.end()) continue;
    fail(command, output,
         "must not be a file that is read, got " + output.path + ", which is " +
             (read->option == "stdin" ? "stdin" : read->path + " of " + read->option));
  }
}

}  // namespace sextant::app
