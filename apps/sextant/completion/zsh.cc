// Completions for zsh.
#include "completion/command_tree.h"
#include "core/text/strings.h"

namespace sextant::app {
namespace {

constexpr const char* kZshBegin = R"(#compdef sextant
# zsh completion of sextant, made by `sextant completion zsh`
_sextant() {
  local path_of=sextant word
  for word in ${words[2,CURRENT-1]}; do
    case "$path_of $word" in
      (COMMANDS) path_of+=" $word" ;;
    esac
  done
  case $path_of in
)";
constexpr const char* kZshEnd = R"(  esac
}
_sextant "$@"
)";

// Within '...' of an argument of _arguments: "]" and ":" end its parts.
std::string zsh_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// ":FILE:_files", ":NAME:(a b)"; of a LIST the names may follow each other, separated by commas.
std::string zsh_action(const std::string& type, const Completions& values) {
  std::string text = ":" + zsh_quoted(type) + ":";
  if (values.files) return text + "_files";
  if (values.words.empty()) return text;
  const std::string words = joined(values.words, " ");
  return text + (type == "LIST" ? "_sequence compadd - " + words : "(" + words + ")");
}

// The same for arguments without a name: the inner commands of a command, with their meanings.
std::string zsh_arguments(const CompletedCommand& command) {
  if (command.inner.empty()) return zsh_action("argument", command.arguments);
  std::string text = ":command:((" + joined(command.arguments.words, " ");
  for (const CompletedCommand& inner : command.inner) {
    text += " " + inner.name + "\\:\"" + zsh_quoted(inner.meaning) + "\"";
  }
  return text + "))";
}

}  // namespace

std::string zsh_script(const CompletedCommand& program) {
  std::string cases;
  for (const CompletedCommand* command : all_of(program)) {
    cases += "    '" + command->path + "')\n      _arguments";
    for (const CompletedOption& option : command->options) {
      for (const std::string& name : option.names) {
        const bool separate = option.type.empty() || !name.starts_with("--");
        cases += " \\\n        '" + name + (separate ? "" : "=") + "[" +
                 zsh_quoted(option.meaning) + "]" +
                 (option.type.empty() ? "" : zsh_action(option.type, option.values)) + "'";
      }
    }
    cases += " \\\n        '*" + zsh_arguments(*command) + "' ;;\n";
  }
  return with_commands(kZshBegin, program, "|") + cases + kZshEnd;
}

}  // namespace sextant::app
