// `sextant attend --vectors`: a sentence looks at itself without learned weights.
#include "attention/attend_command.h"
#include "sextant/core/numbers.h"
#include "sextant/lessons/vector_attention.h"

namespace sextant::app {
namespace {

Json json_of(const VectorAttention& found) {
  Json json;
  json["tokens"] = found.words;
  Json rows = Json::array(), nearest = Json::array();
  for (std::int64_t row = 0; row < found.weights.size(0); ++row) {
    const auto weights = found.weights.view().select(0, row);
    rows.push_back(std::vector<double>(weights.data(), weights.data() + weights.count()));
    const NearestWord& near = found.nearest[static_cast<std::size_t>(row)];
    nearest.push_back({{"word", near.word}, {"similarity", near.similarity}});
  }
  json["weights"] = rows;
  json["nearest"] = nearest;
  return json;
}

std::string nearest_text(const VectorAttention& found) {
  std::vector<std::vector<std::string>> rows{{"word", "its output is nearest to", "similarity"}};
  for (std::size_t i = 0; i < found.words.size(); ++i) {
    rows.push_back({found.words[i], found.nearest[i].word, fixed(found.nearest[i].similarity, 4)});
  }
  return aligned(rows, false);
}

}  // namespace

void attend_with_vectors(const Attend& attend) {
  const auto words =
      attend.splitting.tokens(attend.text.read("attend.text", kLongestShownText), "attend.text");
  check_written(attend, static_cast<double>(words.size()) * static_cast<double>(words.size()));
  const VectorAttention found = attend_vectors(words, WordVectors::load(attend.vectors));
  HeadMaps maps{.weights = found.weights.view().split(0, 1),
                .queries = found.words,
                .keys = found.words,
                .title = "Attention without learned weights",
                .has_heads = false};
  write_maps(
      attend, maps, [&] { return to_text(json_of(found)); }, {}, nearest_text(found));
}

}  // namespace sextant::app
