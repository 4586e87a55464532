// Models that rotate. One line per model type; layouts are those of the checkpoints on the Hugging
// Face hub, defaults those of its configuration classes.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/quoted_text.h"
#include "schemes/config_families.h"
#include "schemes/config_rope.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

constexpr RotaryLayout kHalf = RotaryLayout::half_split;
constexpr RotaryLayout kPairs = RotaryLayout::interleaved;

// Which layers see a window, when layer_types does not say.
enum class Window { never, always, from_layer, by_pattern };
enum class Scale { by_head_dim, query_pre_attn_scalar, attention_multiplier };
// Layers without rotation.
enum class NoRope { never, by_list, full_attention };

struct Family {
  std::string_view name;
  RotaryLayout layout = kHalf;
  double base = 10000;
  double partial = 1;
  Window window = Window::never;
  std::int64_t pattern = 0;  // every so many layers see everything
  double local_base = 0;     // of layers with a window; 0: as the others
  Scale scale = Scale::by_head_dim;
  NoRope no_rope = NoRope::never;
  bool sections = false, sections_interleaved = false;
  bool latent = false;                                 // DeepSeek's heads: what turns comes last
  bool temperature = false;                            // Llama 4
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;  // when the config does not say; 0: it must
  std::int64_t window_size = 0;                        // of a config without sliding_window
};

constexpr Family kFamilies[] = {
    {.name = "llama"},
    {.name = "mistral", .window = Window::always, .window_size = 4096},
    {.name = "mixtral", .base = 1e6, .window = Window::always},
    {.name = "qwen2", .window = Window::from_layer, .window_size = 4096},
    {.name = "qwen2_moe", .window = Window::from_layer, .window_size = 4096},
    {.name = "qwen3", .window = Window::from_layer, .window_size = 4096},
    {.name = "qwen3_moe", .window = Window::from_layer, .window_size = 4096},
    {.name = "qwen2_vl",
     .base = 1e6,
     .window = Window::from_layer,
     .sections = true,
     .window_size = 4096},
    {.name = "qwen2_vl_text",
     .base = 1e6,
     .window = Window::from_layer,
     .sections = true,
     .window_size = 4096},
    {.name = "qwen2_5_vl",
     .base = 1e6,
     .window = Window::from_layer,
     .sections = true,
     .window_size = 4096},
    {.name = "qwen2_5_vl_text",
     .base = 1e6,
     .window = Window::from_layer,
     .sections = true,
     .window_size = 4096},
    {.name = "qwen3_vl", .base = 500000, .sections = true, .sections_interleaved = true},
    {.name = "qwen3_vl_text", .base = 500000, .sections = true, .sections_interleaved = true},
    {.name = "qwen3_vl_moe_text", .base = 500000, .sections = true, .sections_interleaved = true},
    {.name = "gemma"},
    {.name = "gemma2",
     .window = Window::by_pattern,
     .pattern = 2,
     .scale = Scale::query_pre_attn_scalar,
     .heads = 8,
     .kv_heads = 4,
     .head_dim = 256,
     .window_size = 4096},
    {.name = "gemma3_text",
     .base = 1e6,
     .window = Window::by_pattern,
     .pattern = 6,
     .local_base = 10000,
     .scale = Scale::query_pre_attn_scalar,
     .heads = 8,
     .kv_heads = 4,
     .head_dim = 256,
     .window_size = 4096},
    {.name = "phi", .partial = 0.5},
    {.name = "phi3", .window = Window::always},
    {.name = "starcoder2", .window = Window::always},
    {.name = "olmo"},
    {.name = "olmo2"},
    {.name = "granite", .scale = Scale::attention_multiplier},
    {.name = "stablelm", .partial = 0.25},
    {.name = "falcon"},
    {.name = "smollm3", .base = 2e6, .no_rope = NoRope::by_list},
    {.name = "gpt_oss",
     .base = 150000,
     .window = Window::by_pattern,
     .pattern = 2,
     .head_dim = 64,
     .window_size = 128},
    {.name = "gpt_neox", .partial = 0.25},
    {.name = "gptj", .layout = kPairs},
    {.name = "codegen", .layout = kPairs},
    {.name = "cohere", .layout = kPairs, .base = 500000},
    {.name = "cohere2",
     .layout = kPairs,
     .window = Window::by_pattern,
     .pattern = 4,
     .no_rope = NoRope::full_attention,
     .window_size = 4096},
    {.name = "glm", .layout = kPairs, .partial = 0.5, .head_dim = 128},
    {.name = "glm4", .layout = kPairs, .partial = 0.5, .head_dim = 128},
    {.name = "llama4_text",
     .layout = kPairs,
     .base = 500000,
     .no_rope = NoRope::by_list,
     .temperature = true,
     .head_dim = 128},
    {.name = "deepseek_v2", .layout = kPairs, .latent = true},
    {.name = "deepseek_v3", .layout = kPairs, .latent = true},
    {.name = "modernbert",
     .base = 160000,
     .window = Window::by_pattern,
     .pattern = 3,
     .local_base = 10000},
};

class Reader {
 public:
  Reader(const ConfigObject& object, const Family& family, ModelConfig& config)
      : object_(object), family_(family), config_(config) {}

  void read() {
    read_sizes();
    read_types();
    read_rope();
    for (std::int64_t i = 0; i < sizes_.layers; ++i) config_.layers.push_back(layer(i));
  }

 private:
  bool is(std::string_view name) const { return family_.name == name; }

  void read_sizes() {
    const auto or_default = [&](std::optional<std::int64_t> value, std::int64_t by_default,
                                std::string_view key) {
      return value || by_default == 0 ? object_.need(value, key) : by_default;
    };
    sizes_.width =
        object_.need(object_.integer_of({"hidden_size", "n_embd", "n_embed"}), "hidden_size");
    sizes_.layers =
        object_.need(object_.integer_of({"num_hidden_layers", "n_layer"}), "num_hidden_layers");
    sizes_.heads = or_default(object_.integer_of({"num_attention_heads", "n_head"}), family_.heads,
                              "num_attention_heads");
    sizes_.max_positions = object_.integer_of({"max_position_embeddings", "n_positions", "n_ctx"});
    config_.max_positions = sizes_.max_positions.value_or(0);
    constexpr std::int64_t kMostLayers = 10000;
    if (sizes_.layers > kMostLayers) object_.fail("num_hidden_layers", "must be at most 10000");

    auto kv = object_.integer_of({"num_key_value_heads", "num_kv_heads"});
    if (is("falcon")) {
      const bool grouped = object_.flag("new_decoder_architecture").value_or(false);
      if (!grouped && object_.flag("multi_query").value_or(true)) kv = 1;
    }
    sizes_.kv_heads = kv.value_or(family_.kv_heads > 0 ? family_.kv_heads : sizes_.heads);
    if (family_.latent) {
      const auto plain = object_.need(object_.integer("qk_nope_head_dim"), "qk_nope_head_dim");
      rotary_dim_ = object_.need(object_.integer("qk_rope_head_dim"), "qk_rope_head_dim");
      object_.integer("head_dim");  // of what turns, where it is written at all
      sizes_.head_dim = plain + rotary_dim_;
      sizes_.kv_heads = sizes_.heads;
    } else if (const auto given = object_.integer("head_dim")) {
      sizes_.head_dim = *given;
    } else if (family_.head_dim > 0) {
      sizes_.head_dim = family_.head_dim;
    } else {
      sizes_.head_dim = sizes_.width / sizes_.heads;
      if (sizes_.width % sizes_.heads != 0) {
        object_.fail("num_attention_heads", "must divide hidden_size, " +
                                                std::to_string(sizes_.width) + ", got " +
                                                std::to_string(sizes_.heads));
      }
    }
    if (sizes_.kv_heads > sizes_.heads || sizes_.heads % sizes_.kv_heads != 0) {
      object_.fail("num_key_value_heads", "must divide the " + std::to_string(sizes_.heads) +
                                              " heads of queries, got " +
                                              std::to_string(sizes_.kv_heads));
    }
  }

  // Which layers see a window or a chunk, and which do not rotate.
  void read_types() {
    const auto layers = static_cast<std::size_t>(sizes_.layers);
    window_ =
        is("modernbert") ? object_.integer("local_attention") : object_.integer("sliding_window");
    if (is("modernbert") && !window_) window_ = 128;
    if (family_.window_size > 0 && object_.is_absent("sliding_window")) {
      window_ = family_.window_size;
    }
    const bool used = object_.flag("use_sliding_window")
                          .value_or(family_.window != Window::from_layer && !is("smollm3"));
    if (!used) window_.reset();
    chunk_ = object_.integer("attention_chunk_size");
    if (is("llama4_text") && !object_.json().contains("attention_chunk_size")) chunk_ = 8192;
    if (object_.flag("use_bidirectional_attention").value_or(false)) {
      object_.fail("use_bidirectional_attention", "must be false, the rest is not supported");
    }

    object_.integer("max_window_layers", 0);  // means nothing where no window is in use
    pattern_ = family_.pattern;               // files have it beside layer_types, too
    if (family_.window == Window::by_pattern) {
      for (const char* key :
           {"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"}) {
        pattern_ = object_.integer(key).value_or(pattern_);
      }
    }
    read_no_rope(layers);
    if (const auto types = object_.texts("layer_types")) {
      if (types->size() != layers) {
        object_.fail("layer_types", "must name all " + std::to_string(layers) + " layers, got " +
                                        std::to_string(types->size()));
      }
      types_ = *types;
    } else {
      types_ = default_types(layers);
    }
    for (const std::string& type : types_) {
      if (type == "full_attention") continue;
      if (type == "sliding_attention" && window_) continue;
      if (type == "chunked_attention" && is("llama4_text")) continue;
      object_.fail("layer_types",
                   type == "sliding_attention"
                       ? "must not have sliding_attention where no sliding_window is in use"
                       : "must be full_attention or sliding_attention (Llama 4: or "
                         "chunked_attention), got " +
                             quoted_text(type));
    }
  }

  std::vector<std::string> default_types(std::size_t layers) {
    std::vector<std::string> types(layers, "full_attention");
    std::int64_t first = sizes_.layers;
    const std::int64_t pattern = pattern_;
    if (family_.window == Window::from_layer) {
      first = object_.integer("max_window_layers", 0).value_or(sizes_.layers);
    }
    for (std::size_t i = 0; i < layers; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      bool windowed = false;
      if (family_.window == Window::always) windowed = true;
      if (family_.window == Window::from_layer) windowed = at >= first;
      // ModernBERT starts with a layer that sees everything, the others end a group with it.
      if (family_.window == Window::by_pattern) {
        windowed = (is("modernbert") ? at : at + 1) % pattern != 0;
      }
      if (windowed && window_) types[i] = "sliding_attention";
      if (is("llama4_text") && rotates_[i] && chunk_) types[i] = "chunked_attention";
    }
    return types;
  }

  void read_no_rope(std::size_t layers) {
    rotates_.assign(layers, true);
    if (family_.no_rope != NoRope::by_list) return;
    const std::int64_t interval = object_.integer("no_rope_layer_interval").value_or(4);
    for (std::size_t i = 0; i < layers; ++i) {
      rotates_[i] = (static_cast<std::int64_t>(i) + 1) % interval != 0;
    }
    const Json list = object_.json().value("no_rope_layers", Json());
    object_.has("no_rope_layers");
    if (list.is_array() && list.empty()) return;  // Llama 4 writes [] for "by the interval"
    const auto given = object_.integers("no_rope_layers");
    if (!given) return;
    if (given->size() != layers) {
      object_.fail("no_rope_layers", "must name all " + std::to_string(layers) + " layers, got " +
                                         std::to_string(given->size()));
    }
    for (std::size_t i = 0; i < layers; ++i) {
      if ((*given)[i] > 1) object_.fail("no_rope_layers", "must be 1 (rotates) or 0 (does not)");
      rotates_[i] = (*given)[i] == 1;
    }
  }

  void read_rope() {
    // What gpt-oss is without a word of it: `transformers` takes null for absent here.
    static const Json kYarn = Json::parse_object(
        R"({"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false,
            "original_max_position_embeddings": 4096})",
        "gpt_oss");
    auto parameters = object_.object("rope_parameters");
    const auto scaling = object_.object("rope_scaling");
    if (is("gpt_oss") && !parameters && !scaling) parameters.emplace(kYarn, "gpt_oss");
    if (parameters && scaling && parameters->json() != scaling->json()) {
      object_.fail("rope_scaling", "must not be given beside rope_parameters with other values");
    }
    context_.default_base = family_.base;
    context_.default_partial = family_.partial;
    context_.head_dim = sizes_.head_dim;
    context_.rotary_dim = rotary_dim_;
    context_.layout = family_.layout;
    context_.last = family_.latent;
    context_.max_positions = sizes_.max_positions;
    context_.original = object_.integer("original_max_position_embeddings");
    context_.sections = family_.sections;
    context_.sections_interleaved = family_.sections_interleaved;
    read_keys_beside();
    if (family_.latent && object_.flag("rope_interleave") == false) {
      context_.layout = RotaryLayout::half_split;
    }

    RopeContext local = context_;
    local.base.reset();
    if (family_.local_base > 0) read_local_base(local);
    const bool nested = parameters && is_nested(*parameters);
    if (parameters && !nested && family_.local_base > 0) {
      object_.fail("rope_parameters",
                   "must have full_attention and sliding_attention for the model type " +
                       std::string(family_.name));
    }
    for (const char* type : {"full_attention", "sliding_attention", "chunked_attention"}) {
      const bool is_local = family_.local_base > 0 && std::string_view(type) == "sliding_attention";
      const RopeContext& context = is_local ? local : context_;
      if (nested) {
        const auto entry = parameters->object(type);
        if (entry) settings_[type] = sextant::read_rope(object_, &*entry, context);
        continue;
      }
      const bool scaled = !is_local || is("modernbert");  // Gemma 3 scales the global layers only
      const ConfigObject* rope = parameters ? &*parameters : scaling ? &*scaling : nullptr;
      settings_[type] = sextant::read_rope(object_, scaled ? rope : nullptr, context);
    }
    if (nested) {
      parameters->refuse_unread(
          "rope_parameters has rotary settings, or one entry of them for full_attention, "
          "sliding_attention or chunked_attention");
    }
  }

  // Models with words of their own for base and part.
  void read_keys_beside() {
    // What the files of two model types say of the kind; no code reads it.
    if (is("modernbert") || is("cohere2")) {
      const std::string usual = is("cohere2") ? "rope_gptj" : "absolute";
      const auto kind = object_.text("position_embedding_type");
      if (kind && *kind != usual) {
        object_.fail("position_embedding_type", "must be " + usual + ", got " + quoted_text(*kind));
      }
    }
    const auto put = [&](std::optional<double>& to, std::string_view key) {
      const auto value = object_.positive(key);
      if (value && to && *value != *to) {
        object_.fail(key, "contradicts another key: " + shortest(*value) + " and " + shortest(*to));
      }
      if (value) to = value;
      return value.has_value();
    };
    if (is("modernbert")) {
      if (put(context_.base, "global_rope_theta")) context_.base_key = "global_rope_theta";
    } else if (!is("gptj") && !is("codegen")) {
      put(context_.base, "rope_theta");
      if (is("gpt_neox") && put(context_.base, "rotary_emb_base")) {
        context_.base_key = "rotary_emb_base";
      }
    }
    if (is("gptj") || is("codegen")) {
      if (!object_.flag("rotary").value_or(true)) object_.fail("rotary", "must be true");
      context_.rotary_dim = object_.integer("rotary_dim").value_or(sizes_.head_dim);
      return;
    }
    put(context_.partial, "partial_rotary_factor");
    if (is("gpt_neox") || is("cohere2")) put(context_.partial, "rotary_pct");
  }

  void read_local_base(RopeContext& local) {
    const char* key = is("modernbert") ? "local_rope_theta" : "rope_local_base_freq";
    local.base = object_.positive(key);
    local.base_key = key;
    local.default_base = family_.local_base;
  }

  static bool is_nested(const ConfigObject& parameters) {
    return std::ranges::any_of(parameters.json().items(),
                               [](const Json::Member& each) { return each.value.is_object(); });
  }

  LayerPositions layer(std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const std::string& type = types_[i];
    LayerPositions layer = bare_layer(sizes_);
    layer.causal = !is("modernbert");
    if (type == "sliding_attention") {
      // w keys, its own among them; ModernBERT: half of w to each side.
      layer.window_left = is("modernbert") ? *window_ / 2 : *window_ - 1;
      if (is("modernbert")) layer.window_right = layer.window_left;
    }
    if (type == "chunked_attention") layer.chunk = object_.need(chunk_, "attention_chunk_size");
    read_scale(layer);
    const auto setting = settings_.find(type);
    const bool rotates =
        rotates_[i] && (family_.no_rope != NoRope::full_attention || type != "full_attention");
    if (rotates && setting == settings_.end()) {
      object_.fail("rope_parameters", "must have an entry for " + type);
    }
    if (rotates) {
      layer.scheme = setting->second.scheme;
      layer.parameters = setting->second.parameters;
      if (family_.latent && setting->second.mscale_all_dim != 0 && setting->second.factor > 1) {
        const double g =
            0.1 * setting->second.mscale_all_dim * std::log(setting->second.factor) + 1;
        layer.scale = g * g / std::sqrt(static_cast<double>(layer.head_dim));
      }
    } else if (family_.temperature) {
      set_temperature(layer);
    }
    return layer;
  }

  void read_scale(LayerPositions& layer) const {
    if (family_.scale == Scale::query_pre_attn_scalar) {
      layer.scale = 1 / std::sqrt(object_.positive("query_pre_attn_scalar").value_or(256));
    }
    if (family_.scale == Scale::attention_multiplier) {
      layer.scale = object_.positive("attention_multiplier").value_or(1);
    }
  }

  // Llama 4: queries of layers that do not rotate grow with the position.
  void set_temperature(LayerPositions& layer) const {
    const Json tuning = object_.json().value("attn_temperature_tuning", Json());
    object_.has("attn_temperature_tuning");
    const bool off = tuning == Json(false) || tuning == Json(0);
    if (!tuning.is_null() && !tuning.is_boolean() && !tuning.is_integer()) {
      object_.fail("attn_temperature_tuning", "must be true or false, or a whole number");
    }
    const double floor_scale = object_.positive("floor_scale").value_or(8192);
    const double attn_scale = object_.number("attn_scale").value_or(0.1);
    if (off) return;
    layer.scheme = "temperature";
    layer.parameters["floor_scale"] = shortest(floor_scale);
    layer.parameters["attn_scale"] = shortest(attn_scale);
  }

  const ConfigObject& object_;
  const Family& family_;
  ModelConfig& config_;
  ModelSizes sizes_;
  std::int64_t rotary_dim_ = 0, pattern_ = 0;
  std::optional<std::int64_t> window_, chunk_;
  std::vector<bool> rotates_;
  std::vector<std::string> types_;
  RopeContext context_;
  std::map<std::string, RopeSetting> settings_;
};

}  // namespace

LayerPositions bare_layer(const ModelSizes& sizes) {
  LayerPositions layer;
  layer.width = sizes.width;
  layer.heads = sizes.heads;
  layer.kv_heads = sizes.kv_heads;
  layer.head_dim = sizes.head_dim;
  return layer;
}

bool read_rotary_model(const ConfigObject& object, ModelConfig& config) {
  const auto* family =
      std::find_if(std::begin(kFamilies), std::end(kFamilies),
                   [&](const Family& each) { return each.name == config.model_type; });
  if (family == std::end(kFamilies)) return false;
  if (config.model_type == "falcon" && object.flag("alibi").value_or(false)) return false;
  Reader(object, *family, config).read();
  return true;
}

std::vector<std::string> rotary_model_types() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.name);
  return names;
}

}  // namespace sextant
