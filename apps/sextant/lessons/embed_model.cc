// `sextant embed --model`: texts or images as vectors of a trained model, and their similarities.
#include <algorithm>
#include <utility>

#include "core/json/json_text.h"
#include "lessons/embed_command.h"
#include "models/image_option.h"
#include "sextant/core/error.h"
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

constexpr std::size_t kMostDrawn = 512;  // rows of a picture

struct Embedded {
  bool of_images = false;
  std::vector<std::string> labels;  // texts, or files of images
  Tensor<float> vectors;            // [labels, width]
  Json model;                       // what JSON says of it
};

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

Picture picture_of(const Embedded& made, View<const double> similarities,
                   std::optional<double> max_width) {
  const std::string one = made.of_images ? "Image" : "Text";
  HeatmapPanels map{
      .values = similarities,
      .titles = {},
      .title = made.of_images ? "Cosine similarity of images" : "Cosine similarity of texts",
      .x_label = one,
      .y_label = one,
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
  for (const std::string& text : made.labels) map.row_labels.push_back(label_of(text));
  map.column_labels = map.row_labels;
  map.max_width = max_width.value_or(map.max_width);
  return draw(map);
}

void write_embedded(const Embed& embed, const Embedded& made) {
  const Format format = embed.output.format(kEmbedFormats, "embed").value_or(Format::text);
  if (format == Format::npy) {
    return write_result(embed.output, format, format_npy<float>(made.vectors.view()));
  }
  const Tensor<double> vectors = widen<float>(made.vectors.view());
  const Tensor<double> similarities = cosine_similarities(vectors.view(), embed.model.threads);
  if (is_picture(format)) {
    return write_picture(picture_of(made, similarities.view(), embed.output.max_width),
                         made.of_images ? "Similarity of images" : "Similarity of texts",
                         embed.output, format);
  }
  if (format == Format::text) {
    return write_result(embed.output, format, text_of(made.labels, similarities.view()));
  }
  Json json = made.model;
  json[made.of_images ? "images" : "texts"] = made.labels;
  json["vectors"] = rows_as_json(vectors.view());
  json["similarities"] = rows_as_json(similarities.view());
  write_result(embed.output, format, to_text(json) + "\n");
}

// Throws Error for a table or a picture of too many rows.
void check_count(const Embed& embed, const char* where, std::size_t count) {
  const Format format = embed.output.format(kEmbedFormats, "embed").value_or(Format::text);
  if (count <= kMostDrawn || (!is_picture(format) && format != Format::text)) return;
  throw Error(where, "must be at most " + std::to_string(kMostDrawn) +
                         (embed.images.empty() ? " texts" : " images") +
                         " for a table of similarities, got " + std::to_string(count) +
                         "; as .npy and .json any number");
}

// Returns the vectors of all files; their images may differ in size.
Embedded embedded_images(const Embed& embed) {
  const ImageModel model = open_image_model(embed.model, "embed.model");
  Embedded made{.of_images = true, .model = {{"model", embed.model.folders.front()}}};
  std::vector<float> vectors;
  Workspace memory;
  Pass pass{.memory = memory, .threads = embed.model.threads};
  for (const std::string& file : embed.images) {
    const Tensor<float> images = read_images(file, "embed.image");
    const std::int64_t count = images.size(0);
    const Tensor<float> each = model.vectors(images.view(), pass);
    vectors.insert(vectors.end(), each.span().begin(), each.span().end());
    for (std::int64_t i = 0; i < count; ++i) {
      made.labels.push_back(count == 1 ? file : file + "[" + std::to_string(i) + "]");
    }
  }
  check_count(embed, "embed.image", made.labels.size());
  const auto rows = std::ssize(made.labels);
  made.vectors = Tensor<float>::uninitialized({rows, std::ssize(vectors) / rows});
  std::ranges::copy(vectors, made.vectors.data());
  return made;
}

Embedded embedded_texts(const Embed& embed) {
  const ModelFolder folder = embed.model.open({ModelKind::causal, ModelKind::masked});
  std::vector<std::string> texts =
      embed.file.empty() ? embed.sentences : load_texts(embed.file, TextUnit::line);
  check_count(embed, "embed.file", texts.size());
  SentenceOptions options = find_sentence_options(folder);
  options.threads = embed.model.threads;
  SentenceVectors made = sentence_vectors(TextModel::load(folder), texts, options);
  if (made.cut > 0) {
    note(std::to_string(made.cut) + " of " + std::to_string(texts.size()) +
         " texts are longer than the " + std::to_string(made.max_tokens) +
         " tokens that the model reads: their beginnings count");
  }
  return {.labels = std::move(texts),
          .vectors = std::move(made.vectors),
          .model = {{"model", folder.path},
                    {"pooling", name_of(options.pooling)},
                    {"normalized", options.normalize}}};
}

}  // namespace

void embed_by_model(const Embed& embed) {
  write_embedded(embed, embed.images.empty() ? embedded_texts(embed) : embedded_images(embed));
}

}  // namespace sextant::app
