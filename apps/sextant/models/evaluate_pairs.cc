// Implements `sextant evaluate --pairs`, which compares translations with their references.
#include <cmath>

#include "core/text/strings.h"
#include "models/evaluate_command.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/training/evaluate.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

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
  const std::string precisions = joined(bleu["precisions"], " / ", [](const Json& precision) {
    return fixed(precision.get<double>(), 1);
  });
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
  LineTranslator models(command.model.open_all({ModelKind::translator}));
  SentencePairs pairs =
      load_pairs(command.pairs, {.source = command.reverse, .target = !command.reverse});
  if (const auto limit = static_cast<std::size_t>(command.limit);
      limit > 0 && limit < pairs.source.size()) {
    pairs.source.resize(limit);
    pairs.target.resize(limit);
  }
  TranslateOptions options = command.options;
  options.threads = command.model.threads;
  const Progress progress("");
  const PairScore score = evaluate(
      models, pairs, options,
      [&](std::string_view doing, std::size_t done, std::size_t all) {
        progress.show(std::string(doing) + " " + std::to_string(done) +
                      (doing == "reading" ? " references" : " of " + std::to_string(all)));
      },
      command.pairs);
  if (!command.output.empty()) {
    std::string text;
    for (const std::string& line : score.translations) text += line + "\n";
    write_file(command.output, text);
  }
  Json json;
  for (const ModelFolder& folder : models.folders()) json["models"].push_back(folder.path);
  json["pairs"] = score.translations.size();
  json["beams"] = options.search.beams;
  json["length_penalty"] = options.search.length_penalty;
  json["bleu"] = json_of(score.bleu);
  json["source_bleu"] = score.source_bleu;
  json["exact_percent"] = score.exact_percent;
  json["perplexity"] = std::isfinite(score.perplexity) ? Json(score.perplexity) : Json();
  json["reference_tokens"] = score.reference_tokens;
  json["unknown_tokens"] = score.unknown_tokens;
  json["seconds"] = score.seconds;
  json["tokens_per_second"] = score.tokens_per_second;
  print(command.json ? to_text(json) + "\n" : pairs_as_text(json));
}

}  // namespace sextant::app
