// The options of commands that come from lists of fields.
#include "positions/option_list.h"

#include "attention/attend_command.h"
#include "lessons/sentence_fields.h"
#include "models/generate_command.h"
#include "training/plan_parts.h"

namespace sextant::app {
namespace {

template <class Options>
void append(std::vector<CommandOption>& list, const std::vector<Defaults<Options>>& defaults,
            std::span<const Wording> words = {}) {
  each_option(defaults, "", words,
              [&list](const auto&, const CommandOption& option) { list.push_back(option); });
}

}  // namespace

std::vector<CommandOption> options_of_command(std::string_view command) {
  std::vector<CommandOption> list;
  if (command == "attend") {
    append<SentenceAttentionOptions>(list, {{"", {}}}, kSentenceWords);
  } else if (command == "generate") {
    const GenerateOptions options = default_generation();
    append<GenerateOptions>(list, {{"", options}}, kGenerateWords);
    append<SamplingOptions>(list, {{"", options.sampling}});
  } else if (command == "train") {
    each_part([&list](const auto& part) { append(list, defaults_of(part), part.words); });
  }
  return list;
}

}  // namespace sextant::app
