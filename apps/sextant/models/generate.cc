// Implements `sextant generate`: a language model continues a text, or fills in its masked tokens.
#include "sextant/models/generate.h"

#include <memory>

#include "commands.h"
#include "models/generate_command.h"
#include "models/generation_fields.h"
#include "options/field_options.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/text_stream.h"
#include "sextant/text/segment.h"
#include "streams/console.h"

namespace sextant::app {

// Unlike other texts a prompt keeps its line breaks: after "ROMEO:\n" the model writes his text.
std::string prompt_of(const Generate& command) {
  std::string prompt = command.prompt == "-" ? read_text("-", "generate.prompt") : command.prompt;
  check_utf8(prompt, "generate.prompt");
  return prompt;
}

void put_text(Json& json, const Generate& command, const Tokenizer& tokenizer,
              const std::string& prompt, const std::string& text, const GeneratedTokens& made,
              const Json& steps) {
  json["prompt"] = prompt;
  json["text"] = text;
  Json tokens = Json::array();
  for (const std::int64_t token : made.tokens) tokens.push_back(tokenizer.piece_or_number(token));
  json["tokens"] = tokens;
  if (command.alternatives > 0) json["steps"] = steps;
  json["ended_by"] = name_of(made.ended_by);
}

void put_options(Json& json, const Generate& command) {
  const SamplingOptions& sampling = command.options.sampling;
  json["temperature"] = sampling.temperature;
  json["top_k"] = sampling.top_k;
  json["top_p"] = sampling.top_p;
  json["repetition_penalty"] = sampling.repetition_penalty;
  json["seed"] = command.options.seed;
  json["cache_type"] = name_of(command.options.cache_type);
}

Json alternatives(const GeneratedToken& chosen, const Tokenizer& tokenizer, std::int64_t count) {
  Json list = Json::array();
  for (const auto& [token, probability] : most_probable(chosen.logits, count)) {
    list.push_back({{"token", tokenizer.piece_or_number(token)},
                    {"probability", probability},
                    {"drawn", chosen.probabilities[static_cast<std::size_t>(token)]}});
  }
  return {{"token", tokenizer.piece_or_number(chosen.token)}, {"alternatives", list}};
}

namespace {

void run(const Generate& command) {
  const ModelFolder folder = command.model.open({ModelKind::causal});
  const std::string prompt = prompt_of(command);
  const auto ids = folder.tokenizer.model_input(prompt).ids;
  if (ids.empty()) throw Error("generate.prompt", "must have at least one token, got none");
  if (ids.size() > kMaxPromptTokens) {
    throw Error("generate.prompt", "must be at most " + std::to_string(kMaxPromptTokens) +
                                       " tokens, got " + std::to_string(ids.size()));
  }
  const TextModel model = TextModel::load(folder);
  GenerateOptions options = for_text(model, command.options);
  options.threads = command.model.threads;
  Json steps = Json::array();
  if (command.alternatives > 0) {
    options.watch = [&](const GeneratedToken& chosen) {
      steps.push_back(alternatives(chosen, folder.tokenizer, command.alternatives));
    };
  }

  // The prompt is printed with the first token: a prompt that cannot be continued prints nothing.
  bool begun = command.json;
  const auto show = [&](std::string_view text) {
    if (command.json) return;
    if (!begun) print(prompt);
    begun = true;
    print(text);
  };
  TextStream stream(folder.tokenizer, prompt, ids, command.stop, show);
  const auto made =
      generate(model, ids, options, [&stream](std::int64_t token) { return stream.add(token); });
  stream.finish();
  if (command.json) {
    Json json;
    json["model"] = folder.path;
    put_text(json, command, folder.tokenizer, prompt, stream.text(), made, steps);
    put_options(json, command);
    return print(to_text(json) + "\n");
  }
  show(stream.text().ends_with('\n') ? "" : "\n");
  if (made.ended_by == GenerationEnd::positions)
    note(end_of_positions(model, made.tokens.size(), "--slide"));
}

}  // namespace

void add_generate(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "generate",
      "text from a trained language model\n"
      "Continues a prompt with a causal language model; prints prompt and text token by token. "
      "With --file or --samples continues several at once, and prints each text under a line "
      "with its number. With --fill, predicts each [MASK] of a text with a masked model.");
  auto generate = std::make_shared<Generate>();
  generate->model.add_to(command)->required();
  auto* prompt = text_or_stdin(command.add_option("--prompt", generate->prompt,
                                                  "the text to continue; - reads stdin"))
                     ->type_name("TEXT");
  auto* file = input_file(command.add_option("--file", generate->file,
                                             "continue each line of this file; - reads stdin"),
                          "F")
                   ->excludes(prompt);
  auto* fill = text_or_stdin(
                   command.add_option("--fill", generate->fill,
                                      "a text with [MASK] in it, for masked models; - reads stdin"))
                   ->type_name("TEXT")
                   ->excludes(prompt)
                   ->excludes(file);
  add_fields(command, generate->options, "", kGenerateWords);
  add_fields(command, generate->options.sampling);
  add_fields(command, generate->batch);
  command.add_flag("--greedy", generate->greedy, "the same as --temperature 0")
      ->excludes(command.get_option("--temperature"));
  command.add_option("--stop", generate->stop, "stop before this text, which is left out")
      ->type_name("TEXT");
  auto* alternatives =
      add_integer(command, "--alternatives", generate->alternatives, 1, kMaxInteger,
                  "with --json: list the N most probable tokens of each step, with the model's "
                  "probability and the probability after sampling options");
  for (const char* other :
       {"--alternatives", "--max-tokens", "--slide", "--cache-type", "--temperature", "--top-p",
        "--repetition-penalty", "--greedy", "--seed", "--stop", "--samples", "--batch-size"}) {
    fill->excludes(command.get_option(other));
  }
  alternatives->needs(command.add_flag("--json", generate->json,
                                       "one object at the end instead of a stream of text; with "
                                       "several texts it has a list of results"));
  command.footer(
      "Examples:\n"
      "  sextant generate --model runs/plays --prompt \"ROMEO:\" --max-tokens 300 --seed 7\n"
      "  sextant generate --model runs/plays --prompt - --greedy < beginning.txt\n"
      "  sextant generate --model runs/plays --file prompts.txt --samples 4 --json\n"
      "  sextant generate --model runs/hidden --fill \"to be or [MASK] to be\" --top-k 5");
  command.callback([generate, prompt, file, fill, &job] {
    if (prompt->count() + file->count() + fill->count() == 0) {
      throw CLI::RequiredError("--prompt, --file or --fill");
    }
    if (generate->greedy) generate->options.sampling.temperature = 0;
    const bool fills = fill->count() > 0;
    job = [generate, fills] {
      if (fills) return fill_in(*generate);
      generate->is_batch() ? continue_several(*generate) : run(*generate);
    };
  });
}

}  // namespace sextant::app
