// Implements `sextant generate --file` and `--samples`: several texts at once.
#include "sextant/models/generate_batch.h"

#include <string>
#include <utility>
#include <vector>

#include "models/generate_command.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/models/text_model.h"
#include "streams/console.h"
#include "streams/line_source.h"

namespace sextant::app {
namespace {

struct NamedPrompts {
  std::vector<std::string> texts, names;
};

NamedPrompts prompts_of(const Generate& command) {
  if (command.file.empty()) return {{prompt_of(command)}, {"generate.prompt"}};
  constexpr std::uint64_t kLongestFile = std::uint64_t{1} << 30;
  constexpr std::size_t kLinesAtOnce = 1024;
  const bool is_stdin = command.file == "-";
  LineSource lines = is_stdin ? LineSource() : LineSource(read_file(command.file, kLongestFile));
  const std::string where = is_stdin ? "stdin" : command.file;
  NamedPrompts prompts;
  for (auto some = lines.next(kLinesAtOnce); !some.empty(); some = lines.next(kLinesAtOnce)) {
    for (std::string& line : some) {
      prompts.texts.push_back(std::move(line));
      prompts.names.push_back(where + ":" + std::to_string(prompts.texts.size()));
    }
  }
  if (prompts.texts.empty()) throw Error(where, "must have a prompt on each line, got none");
  return prompts;
}

// Returns the line above a text: "--- prompt 2, sample 1 ---", of what there is more than one of.
std::string heading(const Generate& command, std::size_t prompt, std::int64_t sample) {
  std::string text;
  if (!command.file.empty()) text = "prompt " + std::to_string(prompt + 1);
  if (command.batch.samples > 1) {
    text += (text.empty() ? "" : ", ") + ("sample " + std::to_string(sample + 1));
  }
  return "--- " + text + " ---\n";
}

}  // namespace

void continue_several(const Generate& command) {
  const ModelFolder folder = command.model.open({ModelKind::causal});
  const NamedPrompts prompts = prompts_of(command);
  const TextModel model = TextModel::load(folder);
  GenerateOptions options = command.options;
  options.threads = command.model.threads;
  BatchOptions batch = command.batch;
  batch.names = prompts.names;
  const auto samples = static_cast<std::size_t>(batch.samples);
  std::vector<Json> steps(prompts.texts.size() * samples, Json::array());
  if (command.alternatives > 0) {
    options.watch = [&](const GeneratedToken& chosen) {
      steps[chosen.prompt * samples + static_cast<std::size_t>(chosen.sample)].push_back(
          alternatives(chosen, folder.tokenizer, command.alternatives));
    };
  }
  const auto made =
      generate_batch(model, prompts.texts, options, batch, command.stop, kMaxPromptTokens);

  Json results = Json::array();
  std::size_t cut = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    for (std::size_t j = 0; j < samples; ++j) {
      const GeneratedText& each = made[i][j];
      const auto sample = static_cast<std::int64_t>(j);
      cut += each.ended_by == GenerationEnd::positions ? 1 : 0;
      if (!command.json) {
        const std::string text = prompts.texts[i] + each.text;
        print(heading(command, i, sample) + text + (text.ends_with('\n') ? "" : "\n"));
        continue;
      }
      Json result;
      result["sample"] = sample + 1;
      result["seed"] = sample_seed(options.seed, sample);
      put_text(result, command, folder.tokenizer, prompts.texts[i], each.text, each,
               steps[i * samples + j]);
      results.push_back(result);
    }
  }
  if (command.json) {
    Json json;
    json["model"] = folder.path;
    json["results"] = results;
    json["samples"] = batch.samples;
    put_options(json, command);
    return print(to_text(json) + "\n");
  }
  if (cut == 0) return;
  note(end_of_positions(model, made[0][0].tokens.size(), "--slide", cut, made.size() * samples));
}

}  // namespace sextant::app
