// All commands, in the groups and the order of the help.
#include "commands.h"

#include <vector>

namespace sextant::app {

void add_commands(CLI::App& program, Job& job) {
  struct Group {
    const char* name;
    std::vector<void (*)(CLI::App&, Job&)> commands;
  };
  const Group groups[] = {
      {"Positions", {add_encode, add_plot, add_identify, add_list}},
      {"Attention", {add_attend, add_attention, add_compare, add_report}},
      {"Models",
       {add_train, add_extrapolate, add_generate, add_translate, add_logit_lens, add_evaluate,
        add_info}},
      {"Lessons", {add_embed, add_similarity, add_recommend}},
      {"Text and files",
       {add_tokenize, add_vocabulary, add_convert_rotary, add_resize_grid, add_average, add_export,
        add_completion}},
  };
  for (const auto& [name, commands] : groups) {
    for (const auto add : commands) {
      add(program, job);
      program.get_subcommands({}).back()->group(name);
    }
  }
}

}  // namespace sextant::app
