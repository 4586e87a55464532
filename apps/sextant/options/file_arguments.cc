// Finds the files that a command reads and writes, from the descriptions of its options.
#include "options/file_arguments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/choices.h"
#include "options/scheme_text.h"
#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"

namespace sextant::app {
namespace {

// An option's use of files is a check of that name, which lets every value pass.
struct UseName {
  FileUse use;
  const char* name;
};
constexpr UseName kUses[] = {{FileUse::reads, "reads files"},
                             {FileUse::reads_text, "reads texts"},
                             {FileUse::reads_rule, "reads a file by a rule"},
                             {FileUse::reads_schemes, "reads schemes"},
                             {FileUse::writes, "writes files"}};

CLI::Option* mark(CLI::Option* option, FileUse use) {
  const auto found = std::ranges::find(kUses, use, &UseName::use);
  return option->check(
      CLI::Validator([](const std::string&) { return std::string(); }, "", found->name));
}

// The files that a command reads in the folder of a model, of a run, and of its checkpoints.
constexpr std::string_view kReadInFolders[] = {
    "config.json",   "model.safetensors", "tokenizer.json", "tokenizer.model",
    "training.json", "checksums.json",    "run.json",       "metrics.jsonl"};
// The files that a training or an experiment writes into its folder.
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

// Adds regular files; pipes and devices may be read and written at once.
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

// "--output" or "TEXT".
std::string name_of(const CLI::Option& option) {
  const auto& names = option.get_lnames();  // get_name() is empty where help leaves it out
  return names.empty() ? option.get_name() : "--" + names.front();
}

std::string place_of(const CLI::App& command, const std::string& name) {
  return command.get_name() + "." + name.substr(name.find_first_not_of('-'));
}

// Files that parameters of schemes name.
std::vector<std::string> files_of_schemes(const std::string& text) {
  std::vector<std::string> files;
  for (const SchemeSpecs& list : split_schemes(text, "schemes")) {
    for (const auto& [name, parameters] : list) {
      const auto known = std::ranges::find(schemes(), name, &Scheme::name);
      if (known == schemes().end()) continue;
      for (const Option& parameter : (*known)->parameters()) {
        const auto given = parameters.find(std::string(parameter.name));
        if (given == parameters.end()) continue;
        if (std::holds_alternative<TextRange>(parameter.range)) files.push_back(given->second);
      }
    }
  }
  return files;
}

[[noreturn]] void fail(const CLI::App& command, const NamedFile& output, const std::string& what) {
  const bool stream = !output.option.starts_with("--");
  throw Error(stream ? output.option : place_of(command, output.option), what);
}

}  // namespace

CLI::Option* input_file(CLI::Option* option, const std::string& type) {
  return mark(option->type_name(type), FileUse::reads);
}

CLI::Option* output_file(CLI::Option* option, const std::string& type) {
  return mark(option->type_name(type), FileUse::writes);
}

CLI::Option* rule_with_file(CLI::Option* option, const std::string& type) {
  return mark(option->type_name(type), FileUse::reads_rule);
}

CLI::Option* text_or_stdin(CLI::Option* option) { return mark(option, FileUse::reads_text); }

CLI::Option* scheme_list(CLI::Option* option, const std::string& type,
                         const std::vector<std::string_view>& names) {
  return mark(offer(option->type_name(type), names), FileUse::reads_schemes);
}

FileUse file_use(CLI::Option& option) {
  for (const auto& [use, name] : kUses) {
    try {
      option.get_validator(name);
      return use;
    } catch (const CLI::OptionNotFound&) {  // CLI11 has no question for it
    }
  }
  return FileUse::none;
}

void check_stdin(CLI::App& command) {
  std::string reader;
  for (CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const FileUse use = file_use(*option);
    if (use != FileUse::reads && use != FileUse::reads_text) continue;
    for (const std::string& value : option->results()) {
      if (value != "-") continue;
      const std::string name = name_of(*option);
      if (!reader.empty()) {
        throw Error(place_of(command, name),
                    "must not be - : there is one stdin, which " + reader + " reads");
      }
      reader = name;
    }
  }
}

void check_files(CLI::App& command) {
  std::vector<NamedFile> inputs, outputs;
  for (CLI::Option* option : command.get_options()) {
    const FileUse use = file_use(*option);
    if (use == FileUse::none) continue;
    const std::string name = name_of(*option);
    std::vector<std::string> values = option->results();
    if (use == FileUse::writes && values.empty()) values.push_back(option->get_default_str());
    for (const std::string& value : values) {
      if (use == FileUse::writes) {
        add_path(outputs, name, value, kWrittenInFolders, {""});
      } else if (use == FileUse::reads_schemes) {
        for (const std::string& path : files_of_schemes(value)) {
          add_path(inputs, name, path, {}, {});
        }
      } else if (use == FileUse::reads_rule) {
        add_path(inputs, name, value.substr(value.find(':') + 1), {}, {});
      } else if (value == "-") {
        add_stream(inputs, "stdin", STDIN_FILENO);
      } else if (use == FileUse::reads) {
        add_path(inputs, name, value, kReadInFolders, {"", "/best", "/last"});
      }
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      if (outputs[i].option != outputs[j].option && outputs[i] == outputs[j]) {
        fail(command, outputs[j],
             "must be a separate file, got " + outputs[j].path + ", which is that of " +
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
