// `sextant embed --model`: texts as vectors of a trained model, and their similarities.
#include "core/json/json_text.h"
#include "lessons/embed_command.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "sextant/hub/sentence_vectors.h"
#include "sextant/lessons/similarity.h"
#include "sextant/pictures/charts.h"
#include "sextant/text/pairs.h"
#include "sextant/text/segment.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr std::size_t kMostDrawn = 512;  // texts of a picture

// A text as a label of a row: its beginning.
std::string label_of(const std::string& text) {
  constexpr std::int64_t kLongest = 40;
  return shorten(text, kLongest);
}

std::string text_of(const std::vector<std::string>& texts, View<const double> similarities) {
  std::vector<std::vector<std::string>> rows(1, {"", ""});
  for (std::size_t i = 0; i < texts.size(); ++i) rows[0].push_back(std::to_string(i));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    rows.push_back({std::to_string(i), label_of(texts[i])});
    for (std::size_t j = 0; j < texts.size(); ++j) {
      rows.back().push_back(
          fixed(similarities(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)), 4));
    }
  }
  return "Cosine similarity\n" + aligned(rows);
}

Picture picture_of(const std::vector<std::string>& texts, View<const double> similarities,
                   std::optional<double> max_width) {
  HeatmapPanels map{.values = similarities,
                    .titles = {},
                    .title = "Cosine similarity of texts",
                    .x_label = "Text",
                    .y_label = "Text",
                    .color_label = "Cosine similarity",
                    .low = 0,
                    .high = 1,
                    .map = ColorMap::sequential};
  for (const double x :
       std::span(similarities.data(), static_cast<std::size_t>(similarities.count()))) {
    if (x < 0) {
      map.low = -1;
      map.map = ColorMap::diverging;
    }
  }
  for (const std::string& text : texts) map.row_labels.push_back(label_of(text));
  map.column_labels = map.row_labels;
  map.max_width = max_width.value_or(map.max_width);
  return draw(map);
}

}  // namespace

void embed_by_model(const Embed& embed) {
  const ModelFolder folder = embed.model.open({ModelKind::causal, ModelKind::masked});
  const std::vector<std::string> texts =
      embed.file.empty() ? embed.sentences : load_texts(embed.file, TextUnit::line);
  const Format format = embed.output.format(kEmbedFormats, "embed").value_or(Format::text);
  if ((is_picture(format) || format == Format::text) && texts.size() > kMostDrawn) {
    throw Error("embed.file", "must be at most " + std::to_string(kMostDrawn) +
                                  " texts for a table of similarities, got " +
                                  std::to_string(texts.size()) + "; as .npy and .json any number");
  }
  SentenceOptions options = find_sentence_options(folder);
  options.threads = embed.model.threads;
  const SentenceVectors made = sentence_vectors(TextModel::load(folder), texts, options);
  if (made.cut > 0) {
    note(std::to_string(made.cut) + " of " + std::to_string(texts.size()) +
         " texts are longer than the " + std::to_string(made.max_tokens) +
         " tokens that the model reads: their beginnings count");
  }
  if (format == Format::npy) {
    return write_result(embed.output, format, format_npy<float>(made.vectors.view()));
  }
  const Tensor<double> vectors = widen<float>(made.vectors.view());
  const Tensor<double> similarities = cosine_similarities(vectors.view(), options.threads);
  if (is_picture(format)) {
    return write_picture(picture_of(texts, similarities.view(), embed.output.max_width),
                         "Similarity of texts", embed.output, format);
  }
  if (format == Format::text) {
    return write_result(embed.output, format, text_of(texts, similarities.view()));
  }
  Json json;
  json["model"] = folder.path;
  json["pooling"] = name_of(options.pooling);
  json["normalized"] = options.normalize;
  json["texts"] = texts;
  json["vectors"] = rows_as_json(vectors.view());
  json["similarities"] = rows_as_json(similarities.view());
  write_result(embed.output, format, to_text(json) + "\n");
}

}  // namespace sextant::app
