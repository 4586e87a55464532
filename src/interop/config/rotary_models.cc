// Models that rotate: of each layer the rotation, the window or chunk, and the scale of the scores.
#include <algorithm>
#include <array>
#include <cmath>

#include "interop/config/defaults.h"
#include "interop/config/layer_kinds.h"
#include "interop/config/models.h"
#include "interop/config/rope.h"
#include "interop/config/rotary_families.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/schemes/rotated/rotary_yarn.h"

namespace sextant::interop {
namespace {

class FamilyReader {
 public:
  FamilyReader(const ConfigObject& object, const RotaryFamily& family, ModelConfig& config)
      : object_(object),
        family_(family),
        defaults_(config_defaults(family.name)),
        config_(config) {}

  void read() {
    read_sizes();
    kinds_ = read_layer_kinds(object_, family_, defaults_.positions, sizes_.layers);
    read_rope();
    if (family_.temperature) read_temperature();
    if (family_.softcap) read_softcap();
    for (std::int64_t i = 0; i < sizes_.layers; ++i) config_.layers.push_back(layer(i));
  }

 private:
  bool is(std::string_view name) const { return family_.is(name); }

  void read_sizes() {
    sizes_ = read_rotary_sizes(object_, defaults_);
    config_.max_positions = sizes_.max_positions.value_or(0);
    if (family_.latent) {
      const std::int64_t plain = object_.integer_or("qk_nope_head_dim", 128);
      rotary_dim_ = object_.integer_or("qk_rope_head_dim", 64);
      object_.integer("head_dim");  // of the rotated channels, where it is written at all
      object_.integer("num_key_value_heads");
      sizes_.head_dim = plain + rotary_dim_;
      sizes_.kv_heads = sizes_.heads;
      return;
    }
    sizes_.kv_heads = is("falcon") ? read_falcon_kv_heads(object_, sizes_)
                                   : read_kv_heads(object_, defaults_, sizes_);
    const auto given = object_.integer("head_dim");
    if (given) {
      sizes_.head_dim = *given;
    } else if (defaults_.sizes.head_dim > 0 && object_.is_absent("head_dim")) {
      sizes_.head_dim = defaults_.sizes.head_dim;
    } else {
      sizes_.head_dim = divided_width(object_, sizes_);
    }
  }

  void read_rope() {
    // The defaults of gpt-oss and Ministral 3: `transformers` takes null for absent.
    static const Json kYarn = Json::parse_object(
        R"({"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false,
            "original_max_position_embeddings": 4096})",
        "gpt_oss");
    auto parameters = object_.object("rope_parameters");
    auto scaling = object_.object("rope_scaling");
    if (scaling && scaling->json().empty()) scaling.reset();
    static const Json kMinistral = Json::parse_object(
        R"({"type": "yarn", "rope_theta": 1000000, "factor": 16, "beta_fast": 32, "beta_slow": 1,
            "original_max_position_embeddings": 16384, "mscale": 1, "mscale_all_dim": 1,
            "llama_4_scaling_beta": 0.1})",
        "ministral3");
    if (!parameters && !scaling) {
      if (is("gpt_oss")) parameters.emplace(kYarn, "gpt_oss");
      if (is("ministral3")) parameters.emplace(kMinistral, "ministral3");
    }
    if (parameters && scaling && parameters->json() != scaling->json()) {
      object_.fail("rope_scaling", "must not be given with rope_parameters of other values");
    }
    const DefaultPositions& defaults = defaults_.positions;
    context_.default_base = defaults.base;
    context_.default_partial = defaults.partial;
    context_.reads_partial = family_.partial;
    context_.head_dim = sizes_.head_dim;
    context_.rotary_dim = rotary_dim_;
    context_.layout = family_.layout;
    context_.last = family_.latent;
    context_.max_positions = sizes_.max_positions;
    context_.original = object_.integer("original_max_position_embeddings");
    if (defaults.original > 0 && object_.is_null("original_max_position_embeddings")) {
      object_.fail("original_max_position_embeddings", "must not be null");
    }
    context_.default_original = defaults.original;
    if (defaults.sections.front() > 0) context_.default_sections = defaults.sections;
    context_.sections_interleaved = family_.sections_interleaved;
    context_.query_scale = family_.query_scale;
    read_keys_beside();
    if (family_.latent &&
        !object_.flag("rope_interleave").value_or(!object_.is_null("rope_interleave"))) {
      context_.layout = RotaryLayout::half_split;
    }

    RopeContext local = context_;
    if (family_.nested_rope) read_local_base(local);
    const bool nested = family_.nested_rope && parameters && is_nested(*parameters);
    if (parameters && !nested && family_.nested_rope) {
      object_.fail("rope_parameters",
                   "must have full_attention and sliding_attention for the model type " +
                       std::string(family_.name));
    }
    for (const char* type : {"full_attention", "sliding_attention", "chunked_attention"}) {
      const bool is_local = family_.nested_rope && std::string_view(type) == "sliding_attention";
      const RopeContext& context = is_local ? local : context_;
      if (nested) {
        const auto entry = parameters->object(type);
        settings_[type] = interop::read_rope(object_, entry ? &*entry : nullptr, context);
        continue;
      }
      const bool scaled =
          !is_local || is("modernbert");  // Gemma 3 and OLMo 3 scale global layers only
      const ConfigObject* rope = parameters ? &*parameters : scaling ? &*scaling : nullptr;
      settings_[type] = interop::read_rope(object_, scaled ? rope : nullptr, context);
    }
    if (nested) {
      parameters->refuse_unread(
          "rope_parameters has an entry for full_attention and one for sliding_attention", object_);
    }
  }

  // Reads models with their own names for base and part.
  void read_keys_beside() {
    if (is("modernbert")) object_.not_used({"position_embedding_type"});
    if (is("gptj") || is("codegen")) {
      if (!object_.flag("rotary").value_or(true)) object_.fail("rotary", "must be true");
      context_.rotary_dim = object_.integer_or("rotary_dim", defaults_.positions.rotary_dim);
      return;
    }
    if (is("modernbert")) context_.base_key = "global_rope_theta";
    if (is("gpt_neox")) context_.base_key = "rotary_emb_base";
    const char* part = is("gpt_neox") ? "rotary_pct" : "partial_rotary_factor";
    context_.base = object_.positive(context_.base_key);
    context_.partial = object_.positive(part);
    if (context_.partial) return;
    if (is("glm") || is("glm4")) {  // null rotates all channels; the others cannot be made with it
      if (object_.is_null("partial_rotary_factor")) context_.default_partial = 1;
      return;
    }
    if (context_.default_partial < 1 && object_.is_null(part)) {
      object_.fail(part, "must not be null");
    }
  }

  void read_local_base(RopeContext& local) {
    if (is("olmo3")) return;  // both kinds of layers have rope_theta
    local.base_key = is("modernbert") ? "local_rope_theta" : "rope_local_base_freq";
    local.base = object_.positive(local.base_key);
    local.default_base = defaults_.positions.local_base;
  }

  bool is_nested(const ConfigObject& parameters) const {
    if (parameters.json().empty()) return true;
    return std::ranges::any_of(parameters.json().items(), [](const Json::Member& each) {
      return each.value.is_object() || each.key.ends_with("_attention");
    });
  }

  LayerPositions layer(std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const std::string& type = kinds_.types[i];
    LayerPositions layer = bare_layer(sizes_);
    layer.causal = layer.decoder = !is("modernbert");
    layer.softcap = softcap_;
    layer.sinks = family_.sinks;
    if (type == "sliding_attention") {
      // w keys, its own among them; ModernBERT: half of w to each side.
      layer.window_left = is("modernbert") ? *kinds_.window / 2 : *kinds_.window - 1;
      if (is("modernbert")) layer.window_right = layer.window_left;
    }
    if (type == "chunked_attention") {
      layer.chunk = object_.need(kinds_.chunk, "attention_chunk_size");
    }
    read_scale(layer);
    const auto setting = settings_.find(type);
    const bool rotates = kinds_.rotates[i] && (family_.no_rotation != NoRotation::full_attention ||
                                               type != "full_attention");
    if (rotates && setting == settings_.end()) {
      object_.fail("rope_parameters", "must have an entry for " + type);
    }
    if (rotates) {
      layer.scheme = setting->second.scheme;
      layer.parameters = setting->second.parameters;
      // The models whose tables leave their sharpening to the scale of the scores.
      const RopeSetting& yarn = setting->second;
      if (family_.latent && yarn.mscale_all_dim > 0 && yarn.factor > 1) {
        layer.scale = yarn_softmax_scale(layer.head_dim, yarn.factor, yarn.mscale_all_dim);
      }
    } else if (!temperature_.empty()) {
      layer.scheme = "temperature";
      layer.parameters = temperature_;
    }
    return layer;
  }

  void read_scale(LayerPositions& layer) const {
    if (family_.scale == ScoreScale::query_pre_attn_scalar) {
      layer.scale = 1 / std::sqrt(object_.positive_or("query_pre_attn_scalar", 256));
    }
    if (family_.scale == ScoreScale::attention_multiplier) {
      layer.scale = object_.positive_or("attention_multiplier", 1);
    }
  }

  void read_softcap() {
    constexpr std::string_view kKey = "attn_logit_softcapping";
    const auto given = object_.positive(kKey);
    softcap_ = object_.is_absent(kKey) ? defaults_.positions.softcap : given.value_or(0);
  }

  // Llama 4: queries of layers that do not rotate grow with the position.
  void read_temperature() {
    const Json tuning = object_.json().value("attn_temperature_tuning", Json(true));
    object_.has("attn_temperature_tuning");
    if (!tuning.is_boolean() && !tuning.is_integer()) {
      object_.fail("attn_temperature_tuning", "must be true or false, or a whole number");
    }
    const double floor_scale = object_.positive_or("floor_scale", 8192);
    const double attn_scale = object_.number_or("attn_scale", 0.1);
    if (tuning == Json(false) || tuning == Json(0)) return;
    temperature_ = {{"floor_scale", shortest(floor_scale)}, {"attn_scale", shortest(attn_scale)}};
  }

  const ConfigObject& object_;
  const RotaryFamily& family_;
  const ConfigDefaults& defaults_;
  ModelConfig& config_;
  ModelSizes sizes_;
  std::int64_t rotary_dim_ = 0;
  LayerKinds kinds_;
  double softcap_ = 0;
  std::map<std::string, std::string> temperature_;
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
  const RotaryFamily* family = find_rotary_family(config.model_type);
  if (family == nullptr) return false;
  if (config.model_type == "falcon" && object.flag("alibi").value_or(false)) return false;
  FamilyReader(object, *family, config).read();
  return true;
}

}  // namespace sextant::interop
