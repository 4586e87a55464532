// Models that do not rotate: learned tables, sines, ALiBi, T5's buckets, DeBERTa, BERT's relative
// keys.
#include <algorithm>
#include <cmath>

#include "interop/config/defaults.h"
#include "interop/config/models.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"

namespace sextant::interop {
namespace {

ModelSizes sizes_of(const ConfigObject& object, const ModelConfig& config) {
  const ConfigDefaults& defaults = config_defaults(config.model_type);
  ModelSizes sizes = read_unrotated_sizes(object, defaults);
  sizes.kv_heads = sizes.heads;
  if (defaults.sizes.head_dim > 0) {
    sizes.head_dim = object.integer_or("d_kv", defaults.sizes.head_dim);
  } else {
    const auto given = object.integer("d_kv");
    sizes.head_dim = given ? *given : divided_width(object, sizes);
  }
  return sizes;
}

void fill(ModelConfig& config, const ModelSizes& sizes, const LayerPositions& layer) {
  config.max_positions = sizes.max_positions.value_or(0);
  config.layers.assign(static_cast<std::size_t>(sizes.layers), layer);
}

LayerPositions learned_layer(const ConfigObject& object, const ModelSizes& sizes,
                             std::int64_t offset, std::int64_t more_rows) {
  LayerPositions layer = bare_layer(sizes);
  layer.scheme = "learned";
  if (offset > 0) layer.parameters["offset"] = std::to_string(offset);
  layer.table_rows = object.need(sizes.max_positions, "max_position_embeddings") + more_rows;
  return layer;
}

void read_gpt2(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  fill(config, sizes, learned_layer(object, sizes, 0, 0));
  const bool scaled = object.flag_or("scale_attn_weights", true);
  const bool by_layer = object.flag_or("scale_attn_by_inverse_layer_idx", false);
  if (scaled && !by_layer) return;
  double number = 0;
  for (LayerPositions& layer : config.layers) {
    layer.scale = scaled ? 1 / std::sqrt(static_cast<double>(sizes.head_dim)) : 1;
    number += 1;
    if (by_layer) *layer.scale /= number;
  }
}

// Rows 0 and 1 of the table are of padding; OPT and BART have them in addition.
void read_opt(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  fill(config, sizes, learned_layer(object, sizes, 2, 2));
}

void read_bert(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  // RoBERTa counts from the row after padding's, which is its pad_token_id.
  const bool behind_padding = config.model_type != "bert";
  const std::int64_t offset = behind_padding ? object.integer_or("pad_token_id", 1, 0) + 1 : 0;
  const std::string kind = object.text("position_embedding_type").value_or("absolute");
  LayerPositions layer = learned_layer(object, sizes, offset, 0);
  const std::int64_t usable = layer.table_rows - offset;
  if (kind == "relative_key" || kind == "relative_key_query") {
    const std::int64_t rows = layer.table_rows;  // also of padding, as the files' tables
    layer = bare_layer(sizes);
    layer.scheme = "relative_key";
    layer.parameters = {{"max_position", std::to_string(rows)}};
    if (kind == "relative_key_query") layer.parameters["with_keys"] = "yes";
  } else if (kind != "absolute") {
    object.fail(
        "position_embedding_type",
        "must be absolute, relative_key or relative_key_query, got " + printable_quote(kind));
  }
  layer.causal = layer.decoder = object.flag_or("is_decoder", false);
  fill(config, sizes, layer);
  config.max_positions = usable;
}

// If the key requests sinusoidal positions, they are in the table of the file.
void read_distilbert(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  object.not_used({"sinusoidal_pos_embds"});
  LayerPositions layer = learned_layer(object, sizes, 0, 0);
  layer.causal = layer.decoder = false;
  fill(config, sizes, layer);
}

void read_alibi(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  LayerPositions layer = bare_layer(sizes);
  layer.scheme = "alibi";
  layer.parameters["direction"] = "causal";
  if (config.model_type == "falcon") {
    object.flag("alibi");
    layer.kv_heads = read_falcon_kv_heads(object, sizes);
    // Falcon adds the bias before the scores are scaled.
    layer.bias_factor = 1 / std::sqrt(static_cast<double>(layer.head_dim));
    object.not_used({"rope_theta", "rope_scaling", "rope_parameters"});
  }
  object.not_used({"offset_alibi"});  // BLOOM's files have it; no code reads it
  fill(config, sizes, layer);
}

void read_mpt(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  static const Json kNothing = Json::object();
  const ConfigObject attention =
      object.object("attn_config").value_or(ConfigObject(kNothing, object.where()));
  const bool alibi = attention.flag_or("alibi", true);
  LayerPositions layer;
  const bool learned = object.flag_or("learned_pos_emb", true);
  if (alibi) {
    layer = bare_layer(sizes);
    layer.scheme = "alibi";
    layer.parameters["direction"] = "causal";
    layer.parameters["max_bias"] = shortest(attention.positive_or("alibi_bias_max", 8));
  } else {
    layer = learned ? learned_layer(object, sizes, 0, 0) : bare_layer(sizes);
  }
  layer.scale = attention.positive("softmax_scale");
  for (const char* key : {"rope", "prefix_lm", "attn_uses_sequence_id"}) {
    if (attention.flag(key).value_or(false)) attention.fail(key, "must be false");
  }
  const auto window = attention.integer("sliding_window_size", -1).value_or(-1);
  if (window != -1) attention.fail("sliding_window_size", "must be -1");
  fill(config, sizes, layer);
}

// Adds the layers of a decoder, which are like `layer`, to those of an encoder.
void add_decoders(const ConfigObject& object, ModelConfig& config, LayerPositions layer,
                  std::string_view key, std::int64_t count) {
  constexpr std::int64_t kMaxLayers = 10000;
  if (count > kMaxLayers) object.fail(key, "must be at most 10000");
  layer.causal = layer.decoder = true;
  config.layers.insert(config.layers.end(), static_cast<std::size_t>(count), layer);
}

// BART and mBART have learned tables, whose first two rows are of padding, Marian and Pegasus
// sines, then cosines.
void read_bart(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  LayerPositions layer;
  if (config.model_type == "bart" || config.model_type == "mbart") {
    layer = learned_layer(object, sizes, 2, 2);
  } else {
    layer = bare_layer(sizes);
    layer.scheme = "sinusoidal";
    layer.parameters["layout"] = "half_split";
  }
  object.not_used({"static_position_embeddings", "extra_pos_embeddings"});  // of early files
  layer.causal = layer.decoder = false;
  fill(config, sizes, layer);
  const ConfigDefaults& defaults = config_defaults(config.model_type);
  const auto heads = object.integer_or("decoder_attention_heads", defaults.sizes.heads);
  if (heads != sizes.heads) {
    object.fail("decoder_attention_heads", "must be encoder_attention_heads, " +
                                               std::to_string(sizes.heads) + ", got " +
                                               std::to_string(heads));
  }
  add_decoders(object, config, layer, "decoder_layers",
               object.integer_or("decoder_layers", defaults.sizes.layers));
}

void read_t5(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  LayerPositions layer = bare_layer(sizes);
  layer.scheme = "t5";
  layer.scale = 1;
  const auto buckets = object.integer_or("relative_attention_num_buckets", 32);
  const auto distance = object.integer_or("relative_attention_max_distance", 128);
  layer.parameters["num_buckets"] = std::to_string(buckets);
  layer.parameters["max_distance"] = std::to_string(distance);
  layer.parameters["bidirectional"] = "yes";
  layer.causal = layer.decoder = false;
  fill(config, sizes, layer);
  config.max_positions = 0;  // n_positions is of the training, buckets have no end
  const std::int64_t decoders = object.integer("num_decoder_layers", 0).value_or(sizes.layers);
  layer.parameters["bidirectional"] = "no";
  add_decoders(object, config, layer, "num_decoder_layers", decoders);
}

// Whose words are in pos_att_type, a list or "p2c|c2p".
bool has_term(const ConfigObject& object, std::string_view term) {
  const Json value = object.json().value("pos_att_type", Json());
  object.has("pos_att_type");
  std::vector<std::string> terms;
  if (value.is_array()) {
    terms = *object.texts("pos_att_type");
  } else {
    std::string rest = object.need(object.text("pos_att_type"), "pos_att_type");
    for (auto bar = rest.find('|'); bar != std::string::npos; bar = rest.find('|')) {
      terms.push_back(rest.substr(0, bar));
      rest.erase(0, bar + 1);
    }
    terms.push_back(rest);
  }
  for (const std::string& each : terms) {
    if (each == "c2p" || each == "p2c") continue;
    object.fail("pos_att_type", "must name c2p, p2c or both, got " + printable_quote(each));
  }
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

void read_deberta(const ConfigObject& object, ModelConfig& config) {
  const ModelSizes sizes = sizes_of(object, config);
  const bool relative = object.flag_or("relative_attention", false);
  const bool absolute = object.flag_or("position_biased_input", true);
  if (relative && absolute) {
    object.fail(
        "position_biased_input",
        "must be false with relative_attention: two schemes in one layer are not supported");
  }
  LayerPositions layer = absolute ? learned_layer(object, sizes, 0, 0) : bare_layer(sizes);
  layer.causal = layer.decoder = false;
  // -1: as many as positions; so too for position_buckets, which means no buckets then. Files have
  // these keys where attention is not relative, too.
  std::int64_t distance = object.integer_or("max_relative_positions", -1, -1);
  const std::int64_t buckets = object.integer("position_buckets", -1).value_or(-1);
  object.has("pos_att_type");
  if (relative) {
    layer.scheme = "deberta";
    if (distance < 1) {
      distance = object.need(sizes.max_positions, "max_position_embeddings");
    }
    layer.parameters["max_position"] = std::to_string(distance);
    layer.parameters["position_buckets"] = std::to_string(buckets > 0 ? buckets : 0);
    if (!has_term(object, "c2p") || !has_term(object, "p2c")) {
      object.fail("pos_att_type", "must name both c2p and p2c, other values are not supported");
    }
    layer.scale = 1 / std::sqrt(3 * static_cast<double>(sizes.head_dim));  // of three terms
  }
  fill(config, sizes, layer);
}

struct Known {
  std::string_view name;
  void (*read)(const ConfigObject&, ModelConfig&);
};
constexpr Known kKnown[] = {
    {"bert", read_bert},
    {"roberta", read_bert},
    {"xlm-roberta", read_bert},
    {"camembert", read_bert},
    {"gpt2", read_gpt2},
    {"opt", read_opt},
    {"bloom", read_alibi},
    {"falcon", read_alibi},
    {"mpt", read_mpt},
    {"bart", read_bart},
    {"marian", read_bart},
    {"mbart", read_bart},
    {"pegasus", read_bart},
    {"t5", read_t5},
    {"mt5", read_t5},
    {"umt5", read_t5},
    {"deberta", read_deberta},
    {"deberta-v2", read_deberta},
    {"distilbert", read_distilbert},
};

}  // namespace

bool read_unrotated_model(const ConfigObject& object, ModelConfig& config) {
  for (const Known& known : kKnown) {
    if (known.name != config.model_type) continue;
    known.read(object, config);
    return true;
  }
  return false;
}

std::vector<std::string> unrotated_model_types() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) {
    if (known.name != "falcon") names.emplace_back(known.name);
  }
  return names;
}

}  // namespace sextant::interop
