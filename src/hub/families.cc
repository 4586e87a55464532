// Implements what the families share.
#include "hub/families.h"

#include <algorithm>
#include <iterator>

#include "hub/image_families.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"

namespace sextant::hub {

namespace {

constexpr const Family* kFamilies[] = {
    &kBart,      &kBert,       &kBloom,      &kCamembert,  &kCodegen, &kCohere,    &kCohere2,
    &kDebertaV2, &kDistilbert, &kFalcon,     &kGemma,      &kGemma2,  &kGemma3,    &kGlm,
    &kGlm4,      &kGpt2,       &kGptj,       &kGptNeox,    &kGranite, &kLlama,     &kMarian,
    &kMbart,     &kMistral,    &kModernbert, &kMpt,        &kMt5,     &kOlmo,      &kOlmo2,
    &kOlmo3,     &kOpt,        &kPegasus,    &kPhi,        &kPhi3,    &kQwen2,     &kQwen3,
    &kRoberta,   &kSmollm3,    &kStablelm,   &kStarcoder2, &kT5,      &kXlmRoberta};

// Types that others ask for, and why they are not there.
struct Refused {
  std::string_view model_type, why;
};
constexpr std::string_view kExperts = "feed-forward layers that are mixtures of experts";
constexpr std::string_view kLatent = "latent attention and mixtures of experts";
constexpr std::string_view kImages = "images with the text";
constexpr Refused kRefused[] = {
    {"mixtral", kExperts},
    {"qwen2_moe", kExperts},
    {"qwen3_moe", kExperts},
    {"gpt_oss", kExperts},
    {"llama4_text", kExperts},
    {"llama4", kExperts},
    {"deepseek_v2", kLatent},
    {"deepseek_v3", kLatent},
    {"umt5", "separate biases of positions in each layer"},
    {"qwen2_vl", kImages},
    {"qwen2_5_vl", kImages},
    {"qwen3_vl", kImages},
    {"gemma3", kImages},
    {"deberta", "one map of all heads, and separate biases and maps of positions"},
};

std::string listed() {
  std::string names;
  for (const Family* each : kFamilies) {
    if (!names.empty()) names += each == kFamilies[std::size(kFamilies) - 1] ? " or " : ", ";
    names += each->model_type;
  }
  return names;
}

// Returns the positions of a kind of layers: a scheme that has an effect, and a window.
SchemeSpecs schemes_of(const LayerPositions& layer) {
  SchemeSpecs list;
  const bool windowed = layer.window_left >= 0 || layer.window_right >= 0;
  if (layer.scheme != "none" || !windowed) list.push_back({layer.scheme, layer.parameters});
  // The rows of padding are skipped when the table is read.
  if (layer.scheme == "learned") list.back().parameters.erase("offset");
  if (layer.bias_factor != 1) list.back().parameters["factor"] = shortest(layer.bias_factor);
  if (!windowed) return list;
  list.push_back({"window", {{"left", std::to_string(layer.window_left)}}});
  if (layer.window_right >= 0) {
    list.back().parameters["right"] = std::to_string(layer.window_right);
  }
  return list;
}

// Returns the sizes of a stack from a layer.
TransformerConfig sizes_of(const LayerPositions& layer) {
  TransformerConfig config;
  config.width = layer.width;
  config.heads = layer.heads;
  config.kv_heads = layer.kv_heads;
  config.head_dim = layer.head_dim;
  config.embedding_scale = 1;
  config.attention_scale = layer.scale.value_or(0);
  config.attention_softcap = layer.softcap;
  return config;
}

void read_length(const ModelConfig& model, TransformerConfig& config) {
  const LayerPositions& layer = model.layers.front();
  if (layer.table_rows > 0) {
    const auto offset = layer.parameters.find("offset");
    config.length =
        layer.table_rows - (offset == layer.parameters.end() ? 0 : std::stoll(offset->second));
  } else if (model.max_positions > 0) {
    config.length = model.max_positions;
  }
}

// One id, or a list of one.
std::optional<std::int64_t> token_of(const ConfigObject& object, const std::string& key) {
  if (object.is_absent(key) || object.is_null(key)) return std::nullopt;
  if (!object.json()[key].is_array()) return object.integer(key, 0);
  const auto list = *object.integers(key);
  if (list.size() != 1) object.fail(key, "must be one token for a decoder with beams");
  return list[0];
}

void add_positions(const ModelConfig& model, TransformerConfig& config) {
  config.schemes = schemes_of(model.layers.front());
  std::int64_t number = 0;
  for (const LayerPositions& layer : model.layers) {
    const SchemeSpecs own = schemes_of(layer);
    const std::int64_t i = number++;
    if (own == config.schemes) continue;
    auto& others = config.layer_schemes;
    auto kind = std::ranges::find(others, own, &LayerSchemes::schemes);
    if (kind == others.end()) kind = others.insert(kind, {{}, own});
    kind->layers.push_back(i);
  }
}

void refuse_positions(const ConfigObject& object, const ModelConfig& model) {
  const LayerPositions& first = model.layers.front();
  for (const LayerPositions& layer : model.layers) {
    if (layer.sinks) object.fail("model_type", "must have no sinks, as models here have none");
    if (layer.chunk != 0) object.fail("attention_chunk_size", "must be null: no chunks are read");
    if (layer.scale == first.scale && layer.softcap == first.softcap) continue;
    object.fail("model_type", "must have the same scale and cap of scores in all layers");
  }
}

}  // namespace

std::span<const Family* const> families() noexcept { return kFamilies; }

const Family& find_family(const ConfigObject& object) {
  const std::string type = object.need(object.text("model_type"), "model_type");
  for (const Family* family : kFamilies) {
    if (family->model_type == type) return *family;
  }
  if (find_image_family(type) != nullptr) {
    object.fail("model_type",
                "must be of a model of text, got " + printable_quote(type) +
                    ", a model of images: `info`, `attend --image`, `embed --image`, `export`, "
                    "load() of Python and load_image_model() of C++ read it");
  }
  const auto* refused = std::ranges::find(kRefused, type, &Refused::model_type);
  const std::string why =
      refused == std::end(kRefused) ? "" : ", which has " + std::string(refused->why);
  object.fail("model_type", "must be " + listed() + ", got " + printable_quote(type) + why +
                                (why.empty() ? "; read_as reads it as one of them" : ""));
}

TransformerConfig shared_config(const ConfigObject& object, const ModelConfig& model) {
  refuse_flag(object, "is_encoder_decoder");
  refuse_flag(object, "add_cross_attention");
  refuse_changes(object);
  refuse_positions(object, model);
  const LayerPositions& layer = model.layers.front();
  TransformerConfig config = sizes_of(layer);
  config.kind = layer.causal ? ModelKind::causal : ModelKind::masked;
  config.layers = static_cast<std::int64_t>(model.layers.size());
  add_positions(model, config);
  read_length(model, config);
  return config;
}

TransformerConfig translator_config(const ConfigObject& object, const ModelConfig& model,
                                    std::int64_t start, std::int64_t end) {
  if (!object.flag_or("is_encoder_decoder", true)) {
    object.fail("is_encoder_decoder", "must be true: half of such a model is not read");
  }
  refuse_changes(object);
  const LayerPositions &encoder = model.layers.front(), &decoder = model.layers.back();
  TransformerConfig config = sizes_of(encoder);
  config.kind = ModelKind::translator;
  config.encoder_layers = std::ranges::count(model.layers, false, &LayerPositions::decoder);
  config.layers = static_cast<std::int64_t>(model.layers.size()) - config.encoder_layers;
  config.schemes = schemes_of(encoder);
  if (schemes_of(decoder) != config.schemes) config.decoder_schemes = schemes_of(decoder);
  read_length(model, config);
  config.target_start = {start};
  config.target_end = end;
  read_target_ends(object, config);
  return config;
}

void read_target_ends(const ConfigObject& object, TransformerConfig& config) {
  if (const auto start = token_of(object, "decoder_start_token_id")) {
    config.target_start.front() = *start;
  }
  if (const auto forced = token_of(object, "forced_bos_token_id")) {
    config.target_start = {config.target_start.front(), *forced};
  }
  if (const auto end = token_of(object, "eos_token_id")) config.target_end = *end;
}

void read_ends(const ConfigObject& object, TransformerConfig& config, std::int64_t vocabulary,
               bool tied) {
  config.vocabulary = object.integer_or("vocab_size", vocabulary);
  config.tied = object.flag_or("tie_word_embeddings", tied);
  config.logits = config.tied || !is_bare(object);
}

void read_encoder(const ConfigObject& object, TransformerConfig& config, bool has_head) {
  config.pre_norm = config.final_norm = false;
  config.embedding_norm = true;
  config.logits = config.logits_bias = config.logits_transform = has_head;
  if (has_head) config.tied = object.flag_or("tie_word_embeddings", true);
}

void refuse_changes(const ConfigObject& object) {
  if (object.has("quantization_config")) {
    object.fail("quantization_config", "must be absent: quantised weights are not read");
  }
  if (object.has("pruned_heads") && !object.json()["pruned_heads"].empty()) {
    object.fail("pruned_heads", "must be empty: all layers have the same heads");
  }
}

void refuse_flag(const ConfigObject& object, std::string_view key) {
  if (object.flag(key).value_or(false)) object.fail(key, "must be false: models here have none");
}

void refuse_key(const ConfigObject& object, std::string_view key, const std::string& why) {
  if (object.has(key)) object.fail(key, "must be null: " + why);
}

Activation activation_of(const ConfigObject& object, std::string_view key,
                         std::string_view by_default) {
  const std::string name = object.text(key).value_or(std::string(by_default));
  const auto is = [&name](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is({"gelu", "gelu_python"})) return Activation::gelu;
  if (is({"gelu_new", "gelu_fast", "gelu_pytorch_tanh"})) return Activation::gelu_tanh;
  if (is({"silu", "swish"})) return Activation::silu;
  if (is({"relu"})) return Activation::relu;
  object.fail(key, "must be relu, gelu, gelu_new or silu, got " + printable_quote(name));
}

Activation gate_of(const ConfigObject& object, std::string_view key, std::string_view by_default) {
  switch (activation_of(object, key, by_default)) {
    case Activation::gelu:
      return Activation::geglu;
    case Activation::gelu_tanh:
      return Activation::geglu_tanh;
    case Activation::silu:
      return Activation::swiglu;
    default:
      object.fail(key, "must be gelu, gelu_new or silu, which gates here have");
  }
}

bool is_class(const ConfigObject& object, std::initializer_list<std::string_view> names) {
  const auto given = object.texts("architectures");
  return given && !given->empty() && std::ranges::find(names, given->front()) != names.end();
}

bool is_bare(const ConfigObject& object) {
  const auto names = object.texts("architectures");
  return names && !names->empty() && names->front().ends_with("Model") &&
         !names->front().ends_with("LMHeadModel");
}

}  // namespace sextant::hub
