// `sextant evaluate --pairs`: translations beside their references.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "models/evaluate_command.h"
#include "models/translate_lines.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/training/tasks/bleu.h"
#include "sextant/training/tasks/translation_task.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

struct Translated {
  std::vector<std::string> lines;
  std::int64_t tokens = 0;  // that were made, ends included
  double seconds = 0;
};

Translated translated(Translators& models, std::span<const std::string> lines,
                      std::span<const std::vector<std::int64_t>> sources,
                      const Translation& options) {
  constexpr std::size_t kTogether = 32;
  const auto start = std::chrono::steady_clock::now();
  Translated result;
  const Progress progress("");
  for (std::size_t first = 0; first < sources.size(); first += kTogether) {
    progress.show("translated " + std::to_string(first) + " of " + std::to_string(sources.size()));
    const auto part = sources.subspan(first, std::min(kTogether, sources.size() - first));
    for (const auto& found : models.translate(part, options)) {
      const std::string& line = lines[result.lines.size()];
      result.lines.push_back(found.empty() ? "" : models.text(line, found[0], options.threads));
      std::ranges::replace(result.lines.back(), '\n', ' ');
      if (!found.empty()) {
        result.tokens += static_cast<std::int64_t>(found[0].tokens.size()) + found[0].finished;
      }
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// The loss of the references, each given its source. Pairs of which a side has no token have none.
LossSum reference_loss(Translators& models, const TokenPairs& pairs, const Translation& options) {
  TokenPairs with_tokens;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    if (pairs.source[i].empty() || pairs.target[i].empty()) continue;
    with_tokens.source.push_back(pairs.source[i]);
    with_tokens.target.push_back(pairs.target[i]);
  }
  const Progress progress("");
  progress.show("reading " + std::to_string(with_tokens.source.size()) + " references");
  return translation_loss(models.all(), with_tokens.source, with_tokens.target, options);
}

std::int64_t unknown_in(const std::vector<std::vector<std::int64_t>>& lines) {
  std::int64_t count = 0;
  for (const auto& line : lines) count += std::ranges::count(line, Tokenizer::unk());
  return count;
}

// A side of the pairs, cut to the limit, and its tokens.
void take_side(std::vector<std::string>& lines, std::vector<std::vector<std::int64_t>>& tokens,
               const Evaluate& command, const Tokenizer& tokenizer) {
  if (command.limit > 0 && static_cast<std::size_t>(command.limit) < lines.size()) {
    lines.resize(static_cast<std::size_t>(command.limit));
  }
  for (const std::string& line : lines) {
    tokens.push_back(line_tokens(tokenizer, line,
                                 command.pairs + ", pair " + std::to_string(tokens.size() + 1)));
  }
}

Json json_of(const Bleu& score) {
  return {{"score", score.score},
          {"precisions", score.precisions},
          {"brevity_penalty", score.brevity_penalty},
          {"hypothesis_length", score.hypothesis_length},
          {"reference_length", score.reference_length},
          {"signature", score.signature}};
}

std::string pairs_as_text(const Json& json) {
  const Json& bleu = json["bleu"];
  std::string precisions;
  for (const Json& precision : bleu["precisions"]) {
    precisions += (precisions.empty() ? "" : " / ") + fixed(precision.get<double>(), 1);
  }
  const auto number = [&json](const char* key, int decimals) {
    return json[key].is_null() ? "none" : fixed(json[key].get<double>(), decimals);
  };
  return aligned(
      {{"pairs", json["pairs"].dump()},
       {"BLEU", fixed(bleu["score"].get<double>(), 2)},
       {"precisions", precisions},
       {"brevity", fixed(bleu["brevity_penalty"].get<double>(), 3) + ", " +
                       bleu["hypothesis_length"].dump() + " tokens, references " +
                       bleu["reference_length"].dump()},
       {"signature", bleu["signature"].get<std::string>()},
       {"copying", number("source_bleu", 2) + " BLEU of the sources as they are"},
       {"exact", number("exact_percent", 2) + " % of the translations"},
       {"perplexity", number("perplexity", 3) + " per token of the references, " +
                          json["reference_tokens"].dump() + " with their ends, " +
                          json["unknown_tokens"].dump() + " unknown"},
       {"speed", number("tokens_per_second", 0) + " tokens/s, " + number("seconds", 1) + " s"}},
      false);
}

}  // namespace

void evaluate_pairs(const Evaluate& command) {
  Translators models(command.model);
  SentencePairs pairs =
      load_pairs(command.pairs, {.source = command.reverse, .target = !command.reverse});
  TokenPairs tokens;
  take_side(pairs.source, tokens.source, command, models.tokenizer());
  take_side(pairs.target, tokens.target, command, models.tokenizer());
  Translation options = command.options;
  options.threads = command.model.threads;

  const LossSum loss = reference_loss(models, tokens, options);
  const Translated made = translated(models, pairs.source, tokens.source, options);
  if (!command.output.empty()) {
    std::string text;
    for (const std::string& line : made.lines) text += line + "\n";
    write_file(command.output, text);
  }
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < made.lines.size(); ++i) exact += made.lines[i] == pairs.target[i];
  const auto count = static_cast<double>(made.lines.size());
  const double perplexity = std::exp(loss.loss / static_cast<double>(loss.tokens));

  Json json;
  for (const ModelFolder& folder : models.folders()) json["models"].push_back(folder.path);
  json["pairs"] = made.lines.size();
  json["beam"] = options.search.beams;
  json["length_penalty"] = options.search.length_penalty;
  json["bleu"] = json_of(bleu(made.lines, pairs.target));
  json["source_bleu"] = bleu(pairs.source, pairs.target).score;
  json["exact_percent"] = 100 * static_cast<double>(exact) / count;
  json["perplexity"] = std::isfinite(perplexity) ? Json(perplexity) : Json();
  json["reference_tokens"] = loss.tokens;
  json["unknown_tokens"] = unknown_in(tokens.target);
  json["seconds"] = made.seconds;
  json["tokens_per_second"] =
      made.seconds > 0 ? static_cast<double>(made.tokens) / made.seconds : 0.0;
  print(command.json ? to_text(json) + "\n" : pairs_as_text(json));
}

}  // namespace sextant::app
