// Every option of every command that names files says whether it reads or writes them, and what it
// says is what keeps an input from being written over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "apps/run_program.h"
#include "commands.h"
#include "options/file_arguments.h"
#include "sextant/core/error.h"

namespace sextant::app_tests {
namespace {

using app::FileUse;
using ::testing::HasSubstr;

// The commands of a program, those of `plot` too.
std::vector<CLI::App*> commands_of(CLI::App& program) {
  std::vector<CLI::App*> commands;
  for (CLI::App* command : program.get_subcommands({})) {
    commands.push_back(command);
    const auto inner = command->get_subcommands({});
    commands.insert(commands.end(), inner.begin(), inner.end());
  }
  return commands;
}

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : option.get_lnames().front();
}

// f(command, option) for all of them.
template <class F>
void each_option(const F& f) {
  CLI::App program;
  app::Job job;
  app::add_commands(program, job);
  int count = 0;
  for (CLI::App* command : commands_of(program)) {
    for (CLI::Option* option : command->get_options()) {
      f(*command, *option);
      ++count;
    }
  }
  EXPECT_GT(count, 500);
}

// Options whose help speaks of files and that name none: what is said of another option.
bool speaks_of_others(const std::string& option) {
  const std::set<std::string> kOthers = {"format", "dtype", "ranks",      "show",
                                         "top-k",  "json",  "json-lines", "documents"};
  return kOthers.contains(option);
}

TEST(FileOptions, OfAllCommandsSayWhatTheyDoWithFiles) {
  const std::regex files(
      "\\b(files?|folders?|stdin|saved?|FILE|DIR|path)\\b|"
      "\\.(npy|json|csv|svg|png|vec|tsv|safetensors)");
  each_option([&](CLI::App& command, CLI::Option& option) {
    const std::string name = name_of(option);
    if (option.get_type_size() == 0 || speaks_of_others(name)) return;
    const std::string text = option.get_description() + " " + option.get_type_name() + " " + name;
    if (!std::regex_search(text, files)) return;
    EXPECT_TRUE(app::file_use(option) != FileUse::none)
        << command.get_name() << " " << name << ": " << text;
  });
}

TEST(FileOptions, ThatWriteNeverNameWhatAnotherReads) {
  const Folder folder;
  put(folder / "file", "kept");
  int pairs = 0;
  each_option([&](CLI::App& command, CLI::Option& input) {
    const FileUse use = app::file_use(input);
    if (use != FileUse::reads && use != FileUse::reads_schemes) return;
    const std::string path = folder / "file";
    input.add_result(use == FileUse::reads ? path : "none,learned:file=" + path);
    for (CLI::Option* output : command.get_options()) {
      if (app::file_use(*output) != FileUse::writes) continue;
      output->add_result(path);
      const std::string written = command.get_name() + "." + name_of(*output);
      try {
        app::check_files(command);
        ADD_FAILURE() << written << " is written over " << name_of(input);
      } catch (const Error& error) {
        EXPECT_EQ(error.where(), written);
        EXPECT_THAT(error.what(), HasSubstr("must not be a file that is read"));
      }
      output->clear();
      ++pairs;
    }
    input.clear();
  });
  EXPECT_GT(pairs, 100);
}

TEST(FileOptions, ReadStdinOnce) {
  const Outcome twice = shell("echo a | sextant attend - --second -");
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, ::testing::StartsWith("sextant: [attend.second] must not be - : there is "
                                               "one stdin, which TEXT reads"));
}

}  // namespace
}  // namespace sextant::app_tests
