// The commands and options of the program, read from the parser.
#include "completion/command_tree.h"

#include <algorithm>
#include <iterator>

#include "core/text/strings.h"
#include "options/choices.h"
#include "options/file_arguments.h"

namespace sextant::app {
namespace {

// The first sentence or clause of a text; the dots of a range, "0 .. 8", end none.
std::string first_part(const std::string& text) {
  std::size_t end = std::min(text.find('\n'), text.size());
  for (const char* mark : {"; ", " (", ". "}) {
    std::size_t at = text.find(mark);
    while (at != text.npos && at > 0 && text[at - 1] == '.') at = text.find(mark, at + 1);
    end = std::min(end, at);
  }
  return text.substr(0, end);
}

Completions completions_of(CLI::Option& option) {
  const FileUse use = file_use(option);
  return {choices_of(option), use == FileUse::reads || use == FileUse::writes};
}

CompletedOption completed_option(CLI::Option& option) {
  CompletedOption shown{.names = {},
                        .meaning = first_part(option.get_description()),
                        .type = {},
                        .values = completions_of(option)};
  for (const std::string& name : option.get_snames()) shown.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shown.names.push_back("--" + name);
  if (option.get_type_size() != 0) shown.type = option.get_type_name();
  return shown;
}

CompletedCommand completed_command(CLI::App& app, const std::string& before) {
  CompletedCommand command{.name = app.get_name(),
                           .path = before + app.get_name(),
                           .meaning = first_part(app.get_description()),
                           .options = {},
                           .arguments = {},
                           .inner = {}};
  for (CLI::App* inner : app.get_subcommands({})) {
    command.inner.push_back(completed_command(*inner, command.path + " "));
  }
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // parameters of schemes: `sextant list NAME`
    if (option->nonpositional()) command.options.push_back(completed_option(*option));
    if (!option->get_positional()) continue;
    const Completions values = completions_of(*option);
    std::ranges::copy(values.words, std::back_inserter(command.arguments.words));
    command.arguments.files |= values.files;
  }
  return command;
}

}  // namespace

CompletedCommand completed(CLI::App& program) { return completed_command(program, ""); }

std::vector<const CompletedCommand*> all_of(const CompletedCommand& command) {
  std::vector<const CompletedCommand*> all{&command};
  for (const CompletedCommand& inner : command.inner) {
    std::ranges::copy(all_of(inner), std::back_inserter(all));
  }
  return all;
}

std::string with_commands(std::string text, const CompletedCommand& program,
                          std::string_view separator) {
  auto commands = all_of(program);
  commands.erase(commands.begin());
  const std::string_view place = "COMMANDS";
  return text.replace(text.find(place), place.size(),
                      joined(commands, separator, [](const CompletedCommand* command) {
                        return "'" + command->path + "'";
                      }));
}

}  // namespace sextant::app
