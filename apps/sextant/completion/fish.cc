// Completions for fish.
#include "completion/command_tree.h"
#include "core/text/strings.h"

namespace sextant::app {
namespace {

constexpr const char* kFishBegin =
    R"(# fish completion of sextant, made by `sextant completion fish`
function __sextant_in
  set -l path sextant
  for word in (commandline -opc)[2..]
    contains -- "$path $word" COMMANDS
    and set path "$path $word"
  end
  test "$path" = "$argv"
end
# names, behind those of a list: rotary,al
function __sextant_names
  set -l list (commandline -ct | string replace -r '^--[^=]*=' '' | string replace -r '[^,+]*$' '')
  printf "$list%s\n" $argv
end
complete -c sextant -f
)";

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// The values of an option or a command: files, names, or unknown.
std::string fish_values(const Completions& values) {
  const std::string names =
      values.words.empty() ? "" : " -a '(__sextant_names " + joined(values.words, " ") + ")'";
  return names + (values.files ? " -F" : "");
}

}  // namespace

std::string fish_script(const CompletedCommand& program) {
  std::string lines;
  for (const CompletedCommand* command : all_of(program)) {
    const std::string line = "complete -c sextant -n '__sextant_in " + command->path + "'";
    if (command->arguments != Completions{}) lines += line + fish_values(command->arguments) + "\n";
    for (const CompletedCommand& inner : command->inner) {
      lines += line + " -a " + inner.name + " -d " + fish_quoted(inner.meaning) + "\n";
    }
    for (const CompletedOption& option : command->options) {
      lines += line;
      for (const std::string& name : option.names) {
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.type.empty())
        lines += (option.values.files ? " -r" : " -x") + fish_values(option.values);
      lines += " -d " + fish_quoted(option.meaning) + "\n";
    }
  }
  return with_commands(kFishBegin, program, " ") + lines;
}

}  // namespace sextant::app
