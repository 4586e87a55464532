// `sextant attend --model`: where a trained model looks.
#include <algorithm>
#include <functional>

#include "attention/attend_command.h"
#include "sextant/core/error.h"
#include "sextant/models/translate.h"
#include "sextant/pictures/page.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

constexpr std::size_t kMostTrainedTokens = 512;  // all layers' maps are held at once

// A text as tokens and as labels of a picture.
struct Labelled {
  std::vector<std::int64_t> ids;
  std::vector<std::string> labels;
};

// One kind of attention of a model, all its layers.
struct Part {
  std::string name, title;
  std::vector<Tensor<double>> layers;  // [heads, queries, keys] each
  std::vector<std::string> queries, keys;
  std::string caption;
};

Labelled labelled(const Tokenizer& tokenizer, const std::string& text, const std::string& where) {
  Labelled result{tokenizer.encode(text), tokenizer.tokens(text)};
  if (result.ids.empty() || result.ids.size() > kMostTrainedTokens) {
    throw Error(where, "must be 1 .. " + std::to_string(kMostTrainedTokens) +
                           " tokens for a map, got " + std::to_string(result.ids.size()));
  }
  check_tokens(result.labels, where);
  for (std::string& label : result.labels) label = token_label(label);
  return result;
}

// A contiguous array in another shape and in float64.
Tensor<double> widened(const Tensor<float>& map, const Shape& shape) {
  auto result = Tensor<double>::uninitialized(shape);
  std::copy_n(map.view().data(), map.view().count(), result.view().data());
  return result;
}

std::vector<Tensor<double>> widened(const std::vector<Tensor<float>>& maps) {
  std::vector<Tensor<double>> result;
  for (const auto& map : maps) result.push_back(widened(map, map.shape()));
  return result;
}

// What stands there, or what the model makes of the source.
Labelled target_of(const Attend& attend, const ModelFolder& folder, Translator<float>& model,
                   const Labelled& source) {
  if (attend.has_second()) {
    return labelled(folder.tokenizer, read_text(attend.second, "attend.target", kLongestShownText),
                    "attend.target");
  }
  Translation options;
  options.threads = attend.model.threads;
  Labelled target{
      translate(model, std::vector<std::vector<std::int64_t>>{source.ids}, options)[0][0].tokens,
      {}};
  for (const std::int64_t id : target.ids) {
    target.labels.push_back(token_label(folder.tokenizer.piece(id)));
  }
  return target;
}

std::vector<Part> translator_parts(const Attend& attend, const ModelFolder& folder,
                                   const Labelled& source) {
  Translator<float> model = load_translator(folder);
  const Labelled target = target_of(attend, folder, model, source);
  // The decoder reads <bos> and the target; what it writes then is the target and <eos>.
  std::vector<std::int64_t> read = target.ids;
  read.insert(read.begin(), Tokenizer::bos());
  std::vector<std::string> read_labels = target.labels, written = target.labels;
  read_labels.insert(read_labels.begin(), folder.tokenizer.piece(Tokenizer::bos()));
  written.push_back(folder.tokenizer.piece(Tokenizer::eos()));
  Workspace memory;
  Pass pass{.memory = memory, .threads = attend.model.threads};
  const auto maps = model.attention_maps(source.ids, read, pass);

  std::vector<Part> parts;
  parts.push_back({"encoder", "Encoder attention", widened(maps.encoder), source.labels,
                   source.labels, "Row: the query. Column: the key. Both are source tokens."});
  parts.push_back({"decoder", "Decoder attention", widened(maps.decoder), read_labels, read_labels,
                   "Row: the token that was read last. Column: the keys, up to it."});
  parts.push_back({"cross", "Cross attention", widened(maps.cross), written, source.labels,
                   "Row: the token that is written. Column: the keys, source tokens."});
  if (!model.pointer) return parts;
  Part copy{
      "copy",
      "Copying",
      {},
      written,
      source.labels,
      "Row: the token that is written. Column: the source token it may be copied from. A row sums "
      "to the probability of copying at all."};
  const Shape& shape = maps.copied.shape();
  copy.layers.push_back(widened(maps.copied, {1, shape[0], shape[1]}));
  parts.push_back(std::move(copy));
  return parts;
}

std::vector<Part> language_parts(const Attend& attend, const ModelFolder& folder,
                                 const Labelled& text) {
  if (attend.has_second()) {
    throw Error("attend.target",
                "must not be given: " + described(folder.config.kind) + " looks at one text");
  }
  LanguageModel<float> model = load_language_model(folder);
  Workspace memory;
  Pass pass{.memory = memory, .threads = attend.model.threads};
  std::vector<Part> parts;
  parts.push_back({"self", "Self attention", widened(model.attention_maps(text.ids, pass)),
                   text.labels, text.labels, "Row: the query. Column: the key."});
  return parts;
}

const Part& chosen(const Attend& attend, const std::vector<Part>& parts) {
  const std::string wanted = !attend.part.empty() ? attend.part
                             : parts.size() > 1   ? "cross"
                                                  : parts[0].name;
  std::string names;
  for (const Part& part : parts) {
    if (part.name == wanted) return part;
    names += (names.empty() ? "" : " | ") + part.name;
  }
  throw Error("attend.part", "must be " + names + " for this model, got '" + wanted + "'");
}

std::size_t chosen_layer(const Attend& attend, const Part& part) {
  const auto layers = static_cast<std::int64_t>(part.layers.size());
  if (part.name == "copy" && (attend.layer || attend.head >= 0)) {
    throw Error(attend.layer ? "attend.layer" : "attend.head",
                "must not be given with --part copy: the pointer has one map");
  }
  if (attend.layer.value_or(0) >= layers) {
    throw Error("attend.layer", "must be 0 .. " + std::to_string(layers - 1) + ", got " +
                                    std::to_string(*attend.layer));
  }
  return static_cast<std::size_t>(attend.layer.value_or(layers - 1));
}

HeadMaps shown(const Attend& attend, const Part& part, std::size_t layer) {
  HeadMaps maps;
  maps.has_heads = part.name != "copy";
  maps.head = maps.has_heads ? attend.head : -1;
  maps.weights = part.layers[layer].view();
  if (maps.has_heads) maps.weights = chosen_heads(attend, maps.weights);
  maps.queries = part.queries;
  maps.keys = part.keys;
  maps.title = part.title + (maps.has_heads ? ", layer " + std::to_string(layer) : "");
  return maps;
}

Json json_of(const Attend& attend, const Part& part, std::size_t layer) {
  const HeadMaps maps = shown(attend, part, layer);
  Json json;
  json["part"] = part.name;
  json["layer"] = maps.has_heads ? Json(layer) : Json();
  json["queries"] = maps.queries;
  json["keys"] = maps.keys;
  json["heads"] = maps.weights.size(0);
  if (maps.head >= 0) json["head"] = maps.head;
  json["weights"] = rows_as_json(maps.weights);
  return json;
}

std::string page_of(const Attend& attend, const ModelFolder& folder,
                    const std::vector<Part>& parts) {
  Page page("Attention of a trained model",
            capital(described(folder.config.kind).substr(2)) + ", " + folder.config.scheme +
                " positions. Rows ask, columns answer; rows of attention sum to one.");
  Json data = Json::array();
  for (const Part& part : parts) {
    page.section(part.title);
    for (std::size_t layer = 0; layer < part.layers.size(); ++layer) {
      page.picture(maps_of(shown(attend, part, layer)), layer == 0 ? part.caption : "");
      data.push_back(json_of(attend, part, layer));
    }
  }
  page.data("attention.json", to_text(data));
  return page.html();
}

}  // namespace

void attend_trained(const Attend& attend) {
  const ModelFolder folder =
      attend.model.open({ModelKind::causal, ModelKind::masked, ModelKind::translator});
  const Labelled source =
      labelled(folder.tokenizer, attend.text.read("attend.text", kLongestShownText), "attend.text");
  const auto parts = folder.config.kind == ModelKind::translator
                         ? translator_parts(attend, folder, source)
                         : language_parts(attend, folder, source);
  const Part& part = chosen(attend, parts);
  const std::size_t layer = chosen_layer(attend, part);
  double weights = 0;  // of a page, which has all layers of all parts
  for (const Part& each : parts) {
    for (const Tensor<double>& map : each.layers) weights += static_cast<double>(map.count());
  }
  const bool is_page =
      attend.output.format(kAttendFormats, "attend").value_or(Format::text) == Format::html;
  check_written(attend, is_page ? weights : static_cast<double>(part.layers[layer].count()));
  write_maps(
      attend, shown(attend, part, layer), [&] { return json_of(attend, part, layer); },
      [&] { return page_of(attend, folder, parts); });
}

}  // namespace sextant::app
