// Configurations: checks, parts, JSON.
#include "sextant/models/transformer_config.h"

#include <cmath>
#include <utility>

#include "core/json/fields_json.h"
#include "models/transformer_fields.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

// The format of config.json. It is raised when current readers would misread a new file; a new
// field whose default is the earlier behaviour needs no new number.
constexpr int kFormat = 2;  // 2: a list of positions in place of one scheme

// The fields of all formats. Other fields may be absent: they have the defaults of
// TransformerConfig.
constexpr std::string_view kRequired[] = {"kind",   "vocabulary", "width", "heads",
                                          "layers", "schemes",    "length"};

// Fields that earlier versions did not have: they are not written if they have the earlier
// behaviour, so that those versions can read the file.
constexpr std::string_view kLater[] = {
    "final_norm",      "first_norm",      "head_dim",       "norm_epsilon",     "embedding_norm",
    "qkv_bias",        "out_bias",        "ffn_bias",       "embedding_scale",  "logits",
    "output_norm",     "parallel_blocks", "qk_norm",        "attention_scale",  "attention_softcap",
    "logits_bias",     "logits_scale",    "logits_softcap", "logits_transform", "layer_schemes",
    "decoder_schemes", "target_start",    "target_end",     "token_types"};

// Throws for a format that is newer than this program. The oldest files have no number.
void check_format(const Json& json, const std::string& where) {
  const Json* format = json.find("format");
  if (format == nullptr) return;
  if (!format->is_integer() || format->get<std::int64_t>() < 1) {
    throw Error(where + ".format", "must be an integer of at least 1, got " + format->dump());
  }
  if (format->get<std::int64_t>() > kFormat) {
    throw Error(where + ".format", "must be at most " + std::to_string(kFormat) + ", got " +
                                       format->dump() +
                                       ": the model was saved by a newer version of sextant");
  }
}

// Format 1 has one scheme, whose parameters may be absent.
void list_schemes(Json& json) {
  const Json* scheme = json.find("scheme");
  if (scheme == nullptr || json.contains("schemes") || json.contains("positions")) return;
  Json one = {{"scheme", *scheme}};
  if (const Json* parameters = json.find("scheme_parameters")) one["parameters"] = *parameters;
  json["schemes"] = Json::array({one});
  json.erase("scheme");
  json.erase("scheme_parameters");
}

}  // namespace

std::string_view name_of(ModelKind kind) noexcept {
  return enum_name(kind, {"causal", "masked", "translator"});
}

std::string described(ModelKind kind) {
  if (kind == ModelKind::translator) return "a translator";
  return "a " + std::string(name_of(kind)) + " language model";
}

namespace {

// Checks that layers exist, each once, with schemes of attention.
void check_layers(const TransformerConfig& c) {
  std::vector<bool> seen(static_cast<std::size_t>(c.layers));
  for (const LayerSchemes& each : c.layer_schemes) {
    if (each.layers.empty()) {
      throw Error("transformer.layer_schemes", "must name the layers of each entry, got none");
    }
    for (const SchemeSpec& given : each.schemes) {
      if (find_scheme(given.scheme).kind != SchemeKind::added) continue;
      throw Error("transformer.layer_schemes", "must be schemes that work in attention, got " +
                                                   given.scheme +
                                                   ", whose rows are added before all layers");
    }
    for (const std::int64_t layer : each.layers) {
      if (layer < 0 || layer >= c.layers || seen[static_cast<std::size_t>(layer)]) {
        throw Error("transformer.layer_schemes", "must have each of the layers 0 .. " +
                                                     std::to_string(c.layers - 1) +
                                                     " once at most, got " + std::to_string(layer));
      }
      seen[static_cast<std::size_t>(layer)] = true;
    }
  }
}

void refuse(bool there, const char* name, const char* wanted, const char* of) {
  if (there) throw Error(name, std::string("must be ") + wanted + " for a " + of);
}

// Checks the fields that translators do not have: their stacks differ, and pointers mix the logits.
void check_translator(const TransformerConfig& c) {
  const char* const all = "translator";
  refuse(!c.logits, "transformer.logits", "true", all);
  refuse(c.logits_transform, "transformer.logits_transform", "false", all);
  refuse(c.parallel_blocks != ParallelBlocks::none, "transformer.parallel_blocks", "none", all);
  refuse(!c.first_norm, "transformer.first_norm", "true", all);
  refuse(!c.layer_schemes.empty(), "transformer.layer_schemes", "empty", all);
  refuse(c.token_types != 1, "transformer.token_types", "1", all);
  const char* const copies = "translator with a pointer";
  refuse(c.pointer && c.logits_bias, "transformer.logits_bias", "false", copies);
  refuse(c.pointer && c.logits_scale != 1, "transformer.logits_scale", "1", copies);
  refuse(c.pointer && c.logits_softcap != 0, "transformer.logits_softcap", "0", copies);
  const auto check_token = [&c](const char* name, std::int64_t token) {
    if (token < c.vocabulary) return;
    throw Error(name, "must be below the vocabulary of " + std::to_string(c.vocabulary) + ", got " +
                          std::to_string(token));
  };
  if (c.target_start.empty()) {
    throw Error("transformer.target_start", "must be one token or more, got none");
  }
  for (const std::int64_t token : c.target_start) check_token("transformer.target_start", token);
  check_token("transformer.target_end", c.target_end);
}

// Checks the fields that only translators have.
void check_without_decoder(const TransformerConfig& c) {
  const char* const other = "model that is not a translator";
  refuse(c.pointer, "transformer.pointer", "false", other);
  refuse(!c.decoder_schemes.empty(), "transformer.decoder_schemes", "empty", other);
}

}  // namespace

void check_config(const TransformerConfig& c) {
  check_fields("transformer", c);
  if (c.head_dim == 0 && c.width % c.heads != 0) {
    throw Error("transformer.heads", "must divide width = " + std::to_string(c.width) + ", got " +
                                         std::to_string(c.heads) + "; head_dim sets another size");
  }
  if (c.kv_heads > 0 && c.heads % c.kv_heads != 0) {
    throw Error("transformer.kv_heads", "must divide heads = " + std::to_string(c.heads) +
                                            ", got " + std::to_string(c.kv_heads));
  }
  if (c.parallel_blocks != ParallelBlocks::none && (!c.pre_norm || c.output_norm)) {
    throw Error("transformer.parallel_blocks",
                "must be none unless norms are before the blocks alone, got " +
                    std::string(name_of(c.parallel_blocks)));
  }
  if (!c.first_norm && (!c.pre_norm || c.parallel_blocks != ParallelBlocks::none)) {
    throw Error("transformer.first_norm",
                "must be true unless norms are before the blocks, one after the other, got false");
  }
  check_layers(c);
  if (c.kind == ModelKind::translator) {
    check_translator(c);
  } else {
    check_without_decoder(c);
  }
}

StackOptions TransformerConfig::stack(bool encoder) const {
  StackOptions options;
  options.layers = encoder && encoder_layers > 0 ? encoder_layers : layers;
  options.attention = {.width = width, .heads = heads, .kv_heads = kv_heads, .head_dim = head_dim};
  options.attention.qk_norm = qk_norm;
  options.attention.scale = attention_scale;
  options.attention.softcap = attention_softcap;
  options.ffn_width = ffn_width;
  options.activation = activation;
  options.norm = norm;
  options.epsilon = norm_epsilon;
  options.pre_norm = pre_norm;
  options.output_norm = output_norm;
  options.parallel = parallel_blocks;
  options.final_norm = final_norm;
  options.first_norm = first_norm;
  options.causal = !encoder;
  options.cross = !encoder && kind == ModelKind::translator;
  options.bias = bias;
  options.qkv_bias = qkv_bias;
  options.out_bias = out_bias;
  options.ffn_bias = ffn_bias;
  options.embedding_norm = embedding_norm;
  if (layer_schemes.empty()) return options;
  options.kinds.resize(static_cast<std::size_t>(layers));
  for (std::size_t i = 0; i < layer_schemes.size(); ++i) {
    for (const std::int64_t layer : layer_schemes[i].layers) {
      options.kinds[static_cast<std::size_t>(layer)] = i + 1;
    }
  }
  return options;
}

double TransformerConfig::embedding_factor() const {
  return embedding_scale > 0 ? embedding_scale : std::sqrt(static_cast<double>(width));
}

PositionOptions TransformerConfig::position_options(bool decoder) const {
  std::vector<SchemeSpecs> others;
  for (const LayerSchemes& each : layer_schemes) others.push_back(each.schemes);
  return {.schemes = decoder && !decoder_schemes.empty() ? decoder_schemes : schemes,
          .other_kinds = std::move(others),
          .width = width,
          .heads = heads,
          .head_dim = attention_head_dim(),
          .length = length};
}

namespace {

// The config.json of a Hugging Face model, which has other keys under the same name of the file.
void refuse_foreign(const Json& json, std::string_view where) {
  if (json.contains("kind")) return;
  if (!json.contains("model_type") && !json.contains("architectures")) return;
  const bool named = json.contains("model_type") && json["model_type"].is_string();
  throw Error(
      where,
      "must be of a model that this library trained, got a Hugging Face model's" +
          (named ? ", model_type " + printable_quote(json["model_type"].get<std::string>()) : "") +
          "; load_pretrained() opens such folders, and `sextant encode --config` shows the "
          "positions "
          "of many");
}

}  // namespace

std::string format_config(const TransformerConfig& config) {
  Json json;
  json["format"] = kFormat;
  write_fields(json, config);
  Json usual;
  write_fields(usual, TransformerConfig());
  for (const std::string_view key : kLater) {
    if (*json.find(key) == *usual.find(key)) json.erase(std::string(key));
  }
  return json.dump(2) + "\n";
}

TransformerConfig parse_config(std::string_view text, std::string_view where) {
  Json json = Json::parse_object(text, where);
  refuse_foreign(json, where);
  check_format(json, std::string(where));
  list_schemes(json);
  TransformerConfig config;
  read_fields(config, json, where, kRequired);
  for (const auto& [key, value] : json.items()) {
    if (key == "format" || has_field<TransformerConfig>(key)) continue;
    throw Error(where, "must not have the unknown key " + key);
  }
  check_config(config);
  return config;
}

}  // namespace sextant
