// The attention maps of a trained model.
#include "sextant/figures/model_attention.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/json/json_text.h"
#include "core/text/strings.h"
#include "figures/map_choice.h"
#include "lessons/views.h"
#include "sextant/core/error.h"
#include "sextant/figures/figure.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/models/text_model.h"
#include "sextant/models/translate_lines.h"
#include "sextant/pictures/page.h"

namespace sextant::figures {
namespace {

constexpr const char* kWritten = "Written tokens";
constexpr const char* kSource = "Source tokens";

// A text as tokens and as labels of a picture.
struct Labelled {
  std::vector<std::int64_t> ids;
  std::vector<std::string> labels;
};

Labelled labelled(TokenizedText read, const std::string& where) {
  Labelled result{std::move(read.ids), std::move(read.tokens)};
  if (result.ids.empty()) throw Error(where, "must have at least one token, got none");
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

// Returns attention of a text to itself, with the pairs that its mask and its positions hide; for
// layers of several kinds, `kinds` has that of each of `maps`.
ModelAttention self_attention(std::string name, std::string title,
                              const std::vector<Tensor<float>>& maps,
                              const std::vector<std::string>& labels,
                              const PositionModule<float>& positions, bool causal,
                              std::string caption, std::span<const std::size_t> kinds = {},
                              const WeightsOptions& chosen = {}) {
  ModelAttention part{std::move(name), std::move(title), widened(maps),
                      labels,          labels,           std::move(caption)};
  std::map<std::size_t, Tensor<double>> hidden;  // by kind
  for (std::size_t layer = 0; layer < part.layers.size(); ++layer) {
    const std::size_t kind = kinds.empty() ? 0 : kinds[layer];
    const auto [found, is_new] = hidden.try_emplace(kind);
    if (is_new) {
      found->second = hidden_pairs(positions, positions.options().heads, std::ssize(labels), causal,
                                   kind, chosen);
    }
    Tensor<double>& masked = part.masked.emplace_back(part.layers[layer].clone());
    for (std::int64_t i = 0; i < masked.count(); ++i) masked.data()[i] += found->second.data()[i];
  }
  return part;
}

// Returns the given target, or the model's translation of the source.
Labelled target_of(const std::optional<std::string>& given, const TextTranslator& model,
                   const Labelled& source, int threads) {
  if (given)
    return labelled({model.tokenizer.encode(*given), model.tokenizer.tokens(*given)},
                    "figure.target");
  TranslateOptions options;
  options.threads = threads;
  const std::vector<std::vector<std::int64_t>> sources = {source.ids};
  Labelled target{translate(model, sources, for_text(model, options))[0][0].tokens, {}};
  for (const std::int64_t id : target.ids) {
    target.labels.push_back(token_label(model.tokenizer.piece(id)));
  }
  return target;
}

}  // namespace

// Hidden pairs do not depend on queries and keys.
Tensor<double> hidden_pairs(const PositionModule<float>& positions, std::int64_t heads,
                            std::int64_t length, bool causal, std::size_t kind,
                            const WeightsOptions& chosen) {
  const Tensor<float> zeros({1, heads, length, positions.options().head_dim});
  AttentionOptions<float> options;
  if (causal) options.causal = Causal::top_left;
  const PositionTables<float> tables = positions.tables(length);
  tables.set(options, length, kind);
  const auto number = [](const std::vector<std::int64_t>& some, std::int64_t all) {
    return some.empty() ? all : std::ssize(some);
  };
  Tensor<double> hidden({number(chosen.heads, heads), number(chosen.rows, length), length});
  lessons::hide<float>(hidden, zeros.view(), zeros.view(), options, chosen);
  return hidden;
}

std::vector<ModelAttention> attend_model(const TextTranslator& model, const std::string& text,
                                         const std::optional<std::string>& given, int threads) {
  const Labelled source = labelled(model.tokenizer.model_input(text), "figure.text");
  const TransformerConfig& c = model.config;
  const auto check_length = [&c](std::size_t tokens) {
    const std::int64_t encoder = c.encoder_layers > 0 ? c.encoder_layers : c.layers;
    const auto length = static_cast<std::int64_t>(tokens);
    check_weights("figure.text", (encoder + 2 * c.layers) * c.heads, length, length,
                  "a shorter text or translation");
  };
  check_length(source.ids.size());
  const Labelled target = target_of(given, model, source, threads);
  // The decoder reads <bos> and the target; it then writes the target and <eos>.
  const std::vector<std::int64_t> read = model.decoder_input(target.ids);
  std::vector<std::string> read_labels;
  for (const std::int64_t id : model.config.target_start) {
    read_labels.push_back(model.tokenizer.piece_or_number(id));
  }
  read_labels.insert(read_labels.end(), target.labels.begin(), target.labels.end());
  check_length(std::max(source.ids.size(), read.size()));
  std::vector<std::string> written(read_labels.begin() + 1, read_labels.end());
  written.push_back(model.tokenizer.piece_or_number(model.config.target_end));
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads};
  const auto maps = model.attention_maps(source.ids, read, pass);

  std::vector<ModelAttention> parts;
  parts.push_back(self_attention("encoder", "Encoder attention", maps.encoder, source.labels,
                                 model.encoder_positions, false,
                                 "Row: the query. Column: the key. Both are source tokens."));
  parts.push_back(self_attention("decoder", "Decoder attention", maps.decoder, read_labels,
                                 model.decoder_positions, true,
                                 "Row: the token that was read last. Column: the keys, up to it."));
  parts.push_back({"cross", "Cross attention", widened(maps.cross), written, source.labels,
                   "Row: the token that is written. Column: the keys, source tokens."});
  parts.back().row_name = kWritten;
  parts.back().column_name = kSource;
  if (!model.pointer) return parts;
  ModelAttention copy{
      "copy",
      "Copying",
      {},
      written,
      source.labels,
      "Row: the token that is written. Column: the source token it may be copied from. A row sums "
      "to the probability of copying at all."};
  const Shape& shape = maps.copied.shape();
  copy.layers.push_back(widened(maps.copied, {1, shape[0], shape[1]}));
  copy.row_name = kWritten;
  copy.column_name = kSource;
  parts.push_back(std::move(copy));
  return parts;
}

std::vector<ModelAttention> attend_model(const TextModel& model, const std::string& text,
                                         int threads, const MapChoice& chosen,
                                         const std::optional<std::string>& second) {
  const TransformerConfig& config = model.config;
  if (second && config.kind != ModelKind::masked) {
    throw Error("figure.target",
                "must not be given: " + described(config.kind) + " looks at one text");
  }
  TokenizedText input =
      second ? model.tokenizer.model_input(text, *second) : model.tokenizer.model_input(text);
  // As in transformers, a model without types of tokens reads the two texts as one.
  const auto types = config.token_types > 1 ? std::move(input.types) : std::vector<std::int64_t>();
  const Labelled read = labelled(std::move(input), "figure.text");
  const ChosenMaps maps =
      choose_maps(chosen, config.layers, config.heads, std::ssize(read.ids), "figure.text");
  std::vector<std::size_t> kinds = model.stack.options.kinds;
  if (chosen.layer && !kinds.empty()) kinds = {kinds[static_cast<std::size_t>(*chosen.layer)]};
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads};
  std::vector<ModelAttention> parts;
  parts.push_back(self_attention("self", "Self attention",
                                 model.attention_maps(read.ids, pass, maps.selection(), types),
                                 read.labels, model.positions, config.kind == ModelKind::causal,
                                 "Row: the query. Column: the key.", kinds, maps.parts));
  name_chosen(maps, parts.back());
  return parts;
}

std::vector<ModelAttention> attend_model(const ImageModel& model, View<const float> image,
                                         int threads, const MapChoice& chosen) {
  const std::string where = "figure.image";
  if (image.rank() != 3) {
    throw Error(where, "must be [channels, height, width], got " + image.shape().to_string());
  }
  const ImageConfig& config = model.config;
  const std::vector<std::string> names =
      model.token_names(config.grid_of(image.size(1), image.size(2), where));
  const ChosenMaps maps =
      choose_maps(chosen, config.layers, config.heads, std::ssize(names), where);
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads};
  std::vector<ModelAttention> parts;
  parts.push_back({"self", "Self attention",
                   widened(model.attention_maps(image, pass, maps.selection())), names, names,
                   "Row: the query. Column: the key. Patches are named row,column."});
  name_chosen(maps, parts.back());
  return parts;
}

std::vector<ModelAttention> attend_model(const ModelFolder& folder, const std::string& text,
                                         const std::optional<std::string>& target, int threads,
                                         const MapChoice& chosen) {
  if (folder.config.kind == ModelKind::translator) {
    if (chosen.layer || chosen.head || chosen.first_row > 0 || chosen.end_row) {
      throw Error("figure.rows",
                  "must not be chosen for a translator, whose maps are all computed");
    }
    return attend_model(TextTranslator::load(folder), text, target, threads);
  }
  return attend_model(TextModel::load(folder), text, threads, chosen, target);
}

}  // namespace sextant::figures
