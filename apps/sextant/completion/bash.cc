// Completions for bash 4 and newer.
#include "completion/command_tree.h"
#include "core/text/strings.h"

namespace sextant::app {
namespace {

// The words after a command's name: one function for all programs.
constexpr const char* kBashBegin =
    R"(# bash completion of sextant, made by `sextant completion bash`
_sextant() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local path=sextant options= names= files= i
  # --option=value is three words
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${COMP_WORDS[i]}" in
      COMMANDS) path+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  case $path in
)";
constexpr const char* kBashEnd = R"(  esac
  local list=${word%"${word##*[,+]}"}  # schemes that are there already: rotary,al
  COMPREPLY=($(compgen -P "$list" -W "$names" -- "${word#"$list"}"))
  if [[ $word == -* || -z $names$files ]]; then COMPREPLY+=($(compgen -W "$options" -- "$word")); fi
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    local IFS=$'\n'
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}
complete -F _sextant sextant
)";

std::string bash_values(const Completions& values) {
  std::string text;
  if (!values.words.empty()) text += " names='" + joined(values.words, " ") + "'";
  if (values.files) text += " files=yes";
  return text;
}

}  // namespace

std::string bash_script(const CompletedCommand& program) {
  std::string cases;
  for (const CompletedCommand* command : all_of(program)) {
    Completions arguments = command->arguments;
    for (const CompletedCommand& inner : command->inner) arguments.words.push_back(inner.name);
    std::vector<std::string> names, alone;  // names of options; of those whose values are free
    std::string values;
    for (const CompletedOption& option : command->options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.type.empty()) continue;
      if (option.values == Completions{}) {
        alone.insert(alone.end(), option.names.begin(), option.names.end());
      } else {
        values +=
            "        " + joined(option.names, "|") + ")" + bash_values(option.values) + " ;;\n";
      }
    }
    if (!alone.empty()) values += "        " + joined(alone, "|") + ") ;;\n";
    cases += "    '" + command->path + "')\n      case $before in\n" + values +
             "        *) options='" + joined(names, " ") + "'" + bash_values(arguments) +
             " ;;\n      esac ;;\n";
  }
  return with_commands(kBashBegin, program, "|") + cases + kBashEnd;
}

}  // namespace sextant::app
