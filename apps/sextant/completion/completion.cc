// `sextant completion`: a shell's completions of this program.
#include <string>

#include "commands.h"
#include "completion/command_tree.h"
#include "options/options.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

struct Shell {
  const char* name;
  std::string (*script)(const CompletedCommand&);
};
constexpr Shell kShells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

void add_completion(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "completion",
      "completions of commands and options for a shell\n"
      "Prints the script that completes commands, options and names of this program in bash, zsh "
      "or fish. An installed sextant has it in the folders of these shells.");
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.emplace_back(shell.name);
  auto* shell = command.add_option("SHELL", "bash | zsh | fish")
                    ->required()
                    ->check(one_of("completion.shell", names));
  command.footer(
      "Examples:\n"
      "  sextant completion bash > ~/.local/share/bash-completion/completions/sextant\n"
      "  sextant completion zsh > ~/.zsh/completions/_sextant\n"
      "  sextant completion fish > ~/.config/fish/completions/sextant.fish");
  command.callback([&program, shell, &job] {
    job = [&program, name = shell->as<std::string>()] {
      for (const Shell& one : kShells) {
        if (one.name == name) print(one.script(completed(program)));
      }
    };
  });
}

}  // namespace sextant::app
