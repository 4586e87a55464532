// Implements `sextant generate --fill`: the tokens that a masked model predicts for [MASK].
#include "models/generate_command.h"
#include "options/options.h"
#include "sextant/core/numbers.h"
#include "sextant/models/fill_masks.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {

void fill_in(const Generate& command) {
  const ModelFolder folder = command.model.open({ModelKind::masked});
  const std::string text = read_text(command.fill, "generate.fill");
  const TextModel model = TextModel::load(folder);
  FillOptions options{.threads = command.model.threads, .where = "generate.fill"};
  if (const auto top = command.options.sampling.top_k; top > 0) options.top_k = top;
  const FilledText filled = fill_masks(model, text, options);
  if (command.json) {
    Json json{
        {"model", folder.path}, {"text", text}, {"filled", filled.text}, {"masks", Json::array()}};
    for (const auto& mask : filled.masks) {
      Json tokens = Json::array(), probabilities = Json::array();
      for (const auto& [id, token, probability] : mask) {
        tokens.push_back(token);
        probabilities.push_back(probability);
      }
      json["masks"].push_back({{"tokens", tokens}, {"probabilities", probabilities}});
    }
    return print(to_text(json) + "\n");
  }
  std::string shown = filled.text + "\n";
  for (std::size_t mask = 0; mask < filled.masks.size(); ++mask) {
    std::vector<std::vector<std::string>> rows;
    rows.push_back({std::string(kMask) + " " + std::to_string(mask + 1), "probability"});
    for (const auto& [id, token, probability] : filled.masks[mask]) {
      rows.push_back({token_label(token), fixed(probability, 4)});
    }
    shown += "\n" + aligned(rows);
  }
  print(shown);
}

}  // namespace sextant::app
