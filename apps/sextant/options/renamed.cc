// Commands and options under the names that they had.
#include "options/renamed.h"

#include <string_view>

namespace sextant::app {
namespace {

struct Renamed {
  std::string_view commands;  // with a space around each
  std::string_view old_name, name;
};
constexpr Renamed kRenamed[] = {
    {" attention ", "--kv-lengths", "--key-lengths"},
    {" attention ", "--lse", "--log-sum-exp"},
    {" attention ", "--grad", "--dout"},
    {" attention ", "--transport", "--wire-type"},
    {" attend compare plot ", "--lower", "--lower-case"},
    {" translate evaluate ", "--beam", "--beams"},
    {" similarity ", "--minimum-count", "--min-count"},
    {" train ", "--sequence-ranks", "--context-parallel"},
    {" train extrapolate evaluate similarity vocabulary ", "--text", "--file"},
};

}  // namespace

void rename_options(std::vector<std::string>& words) {
  if (words.empty()) return;
  if (words[0] == "guess") words[0] = "logit-lens";
  const std::string command = " " + words[0] + " ";
  for (std::string& word : words) {
    if (word == "--") return;  // texts and files follow
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    for (const Renamed& each : kRenamed) {
      if (name != each.old_name || each.commands.find(command) == each.commands.npos) continue;
      word.replace(0, name.size(), each.name);
      break;
    }
  }
}

}  // namespace sextant::app
