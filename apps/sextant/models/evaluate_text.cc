// `sextant evaluate --file`: how well a language model predicts a text.
#include <cmath>

#include "models/evaluate_command.h"
#include "sextant/core/numbers.h"
#include "sextant/text/pairs.h"
#include "sextant/training/evaluate.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

std::string scores_as_text(const Json& json) {
  std::vector<std::vector<std::string>> rows(
      1, {"windows", "perplexity", "bits per character", "% most probable"});
  for (const Json& row : json["results"]) {
    const auto number = [&row](const char* key) {
      return row[key].is_null() ? "none" : fixed(row[key].get<double>(), 3);
    };
    const bool slides = row["stride"] != row["length"];
    rows.push_back({row["length"].dump() + " tokens" +
                        (slides ? ", sliding by " + row["stride"].dump() : " side by side"),
                    number("perplexity"), number("bits_per_character"), number("correct_percent")});
  }
  return json["tokens"].dump() + " tokens, " + json["unknown_tokens"].dump() + " unknown, " +
         json["characters"].dump() + " characters\n" + aligned(rows);
}

}  // namespace

void evaluate_text(const Evaluate& command) {
  const ModelFolder folder = command.model.open({ModelKind::causal});
  const std::string text = load_texts(command.text)[0];
  const TextModel model = TextModel::load(folder);
  const Progress progress("");
  TextWindows options = command.windows;
  options.threads = command.model.threads;
  options.progress = [&](std::int64_t done, std::int64_t all) {
    progress.show("scored " + std::to_string(done) + " of " + std::to_string(all) + " tokens");
  };
  const TextScore score = evaluate(model, text, options, command.text);
  Json json;
  json["model"] = folder.path;
  json["tokens"] = score.tokens;
  json["unknown_tokens"] = score.unknown;
  json["characters"] = score.characters;
  json["results"] = Json::array();
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  for (const TextScore::Windows& windows : score.windows) {
    json["results"].push_back({{"length", windows.length},
                               {"stride", windows.stride},
                               {"perplexity", number(windows.perplexity)},
                               {"bits_per_character", number(windows.bits_per_character)},
                               {"correct_percent", windows.correct_percent}});
  }
  print(command.json ? to_text(json) + "\n" : scores_as_text(json));
}

}  // namespace sextant::app
