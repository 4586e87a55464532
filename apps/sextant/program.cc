// The first word selects the command, the others its options.
#include "program.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "core/options/nearest.h"
#include "options/argument_scope.h"
#include "options/file_arguments.h"
#include "options/help.h"
#include "options/renamed.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "sextant/kernels.h"
#include "streams/console.h"
#include "streams/process.h"

namespace sextant::app {
namespace {

constexpr int kUnusableInput = 1;
constexpr int kWrongCommandLine = 2;

void build(CLI::App& program, Job& job) {
  program.description("Sextant: positional encodings and attention for transformers, on the CPU.");
  program.formatter(help_format());
  program.set_help_flag("-h,--help", "show this help");
  program.set_version_flag("--version", std::string("sextant ") + SEXTANT_VERSION, "the version");
  program.require_subcommand(1);
  program.get_formatter()->label("SUBCOMMAND", "COMMAND");
  add_commands(program, job);
  program.footer(
      "`sextant COMMAND --help` explains a command. Try:\n"
      "  sextant attend \"the cat sat on the mat\" --causal\n"
      "  sextant compare \"the zebra chased the lion .\" \"the lion chased the zebra .\" --lab\n"
      "  sextant report \"The black cat sat on the couch.\" -o report.html\n"
      "Exit codes: 0 success, 1 unusable input, 2 wrong command line.");
}

// An option that was given with nothing is not one that was not given: every option of every
// command refuses it, the words before they are split ("--from=" would take the next word)
// included.
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() && option->get_snames().empty()) continue;  // texts, files
    const std::string name =
        option->get_lnames().empty() ? option->get_snames()[0] : option->get_lnames()[0];
    const std::string where = command.get_name() + "." + name;
    option->transform(CLI::Validator(  // which comes before every check
        [where](const std::string& value) {
          if (value.empty()) throw Error(where, "must not be empty, got ''");
          return std::string();
        },
        ""));
  }
  for (CLI::App* inner : command.get_subcommands({})) refuse_empty_values(*inner);
}

void refuse_empty_values(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return;  // texts and files follow
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    throw Error(word.substr(2, word.size() - 3), "must not be empty, got " + printable_quote(word));
  }
}

// The innermost command that was given, and the words that call it.
struct Called {
  CLI::App* command;
  std::string words = "sextant";
};

Called called(CLI::App& program) {
  Called result{&program};
  for (auto used = program.get_subcommands(); !used.empty();
       used = result.command->get_subcommands()) {
    result.command = used.front();
    result.words += " " + result.command->get_name();
  }
  return result;
}

// Suggests an option or a command for one that does not exist.
std::string suggestion(CLI::App& program) {
  CLI::App* command = called(program).command;
  const auto extras = program.remaining(true);
  if (extras.empty()) return "";
  std::vector<std::string> known;
  if (extras.front().starts_with(
          "-")) {  // parameters of schemes, which help does not show, as well
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  } else if (command == &program) {
    for (const CLI::App* candidate : program.get_subcommands({})) {
      known.push_back(candidate->get_name());
    }
  }
  const std::string word = extras.front().substr(0, extras.front().find('='));
  if (std::ranges::find(known, word) != known.end()) {
    return "; it must come after the command: " + called(program).words + " " + word;
  }
  return suggested(word, std::vector<std::string_view>(known.begin(), known.end()));
}

int explain(CLI::App& program, const CLI::ParseError& problem) {
  const auto [command, words] = called(program);
  if (problem.get_exit_code() == 0) {  // --help and --version
    const bool help = problem.get_name() == "CallForHelp" || problem.get_name() == "CallForAllHelp";
    print(help ? program.help() : std::string(problem.what()) + "\n");
    return 0;
  }
  std::string what = problem.what();
  std::string where = command == &program ? "" : command->get_name();
  if (const auto extras = program.remaining(true); !extras.empty()) {
    const bool option = extras.front().starts_with("-");
    what = std::string(option                ? "unknown option "
                       : command == &program ? "unknown command "
                                             : "unexpected argument ") +
           printable_quote(extras.front()) + suggestion(program);
  } else if (!where.empty()) {  // "--width is required", "--head excludes --all-heads"
    const std::string first = what.substr(0, what.find_first_of(" :,"));
    const CLI::Option* option = command->get_option_no_throw(first);
    if (option != nullptr && !option->get_lnames().empty()) {
      where += "." + option->get_lnames().front();
    }
  }
  if (where.empty()) where = "sextant";
  note(std::string(Error(where, what).what()) + " (see '" + words + " --help')");
  return kWrongCommandLine;
}

int run(int argc, char** argv) {
  CLI::App program("", "sextant");
  Job job;
  build(program, job);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || (words.size() == 1 && words[0] == "help")) {
    print(program.help());
    return 0;
  }
  if (words[0] == "help") {  // `sextant help plot`, as other programs have it
    words.erase(words.begin());
    words.push_back("--help");
  }
  rename_options(words);
  refuse_empty_values(program);
  try {
    check_requested_target();
    refuse_empty_values(words);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    program.parse(words);
    check_stdin(*called(program).command);
  } catch (const CLI::ParseError& problem) {
    return explain(program, problem);
  } catch (const Error& error) {
    note(in_words_of(*called(program).command, error).text);
    return kWrongCommandLine;
  }
  CLI::App& command = *called(program).command;
  try {
    check_files(command);
    job();
  } catch (const Error& error) {
    const ToldError told = in_words_of(command, error);
    note(told.text);
    return told.is_of_options ? kWrongCommandLine : kUnusableInput;
  }
  return 0;
}

}  // namespace

int run_program(int argc, char** argv) {
  prepare_process();
  try {
    return run(argc, argv);
  } catch (const ReaderGone&) {
    return 0;
  } catch (const EndWith& end) {
    return end.code;
  } catch (const std::filesystem::filesystem_error& error) {
    note("[" + printable(error.path1().string()) + "] cannot be used: " + error.code().message());
  } catch (const std::bad_alloc&) {
    note("[memory] not enough for this size");
  } catch (const std::exception& error) {
    note(error.what());
  }
  return kUnusableInput;
}

}  // namespace sextant::app
