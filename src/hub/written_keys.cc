// Sizes and rotations as transformers spells them.
#include "hub/written_keys.h"

#include <algorithm>
#include <span>

#include "sextant/schemes/scheme.h"

namespace sextant::hub {
namespace {

struct RopeKey {
  std::string_view parameter, key;
  bool needed = false;  // transformers has no default, or another one
};
constexpr RopeKey kFactor[] = {{"factor", "factor", true}};
constexpr RopeKey kYarn[] = {
    {"factor", "factor", true}, {"original_length", "original_max_position_embeddings", true},
    {"beta_fast", "beta_fast"}, {"beta_slow", "beta_slow"},
    {"truncate", "truncate"},   {"attention_factor", "attention_factor"},
    {"mscale", "mscale"},       {"mscale_all_dim", "mscale_all_dim"}};
constexpr RopeKey kLlama3[] = {{"factor", "factor", true},
                               {"original_length", "original_max_position_embeddings", true},
                               {"low_freq_factor", "low_freq_factor", true},
                               {"high_freq_factor", "high_freq_factor", true}};
struct RopeType {
  std::string_view scheme, type;
  std::span<const RopeKey> keys;
};
constexpr RopeType kRopeTypes[] = {{"rotary_linear", "linear", kFactor},
                                   {"rotary_dynamic_ntk", "dynamic", kFactor},
                                   {"rotary_yarn", "yarn", kYarn},
                                   {"rotary_llama3", "llama3", kLlama3}};

Json value_of(const std::string& text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  return Json::parse(text);
}

const SchemeSpec* find_spec(const TransformerConfig& c, SchemeKind kind) {
  const auto found = std::ranges::find_if(
      c.schemes, [kind](const SchemeSpec& each) { return find_scheme(each.scheme).kind == kind; });
  return found == c.schemes.end() ? nullptr : &*found;
}

// As it is given, or the scheme's default.
std::string text_of(const SchemeSpec& spec, std::string_view parameter) {
  const auto found = spec.parameters.find(std::string(parameter));
  if (found != spec.parameters.end()) return found->second;
  const auto options = find_scheme(spec.scheme).parameters();
  return std::ranges::find(options, parameter, &Option::name)->default_text;
}

}  // namespace

std::string_view name_in_hub(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
    case Activation::geglu:
      return "gelu";
    case Activation::gelu_tanh:
    case Activation::geglu_tanh:
      return "gelu_new";
    default:
      return "silu";
  }
}

Json class_in_hub(const TransformerConfig& c, std::string_view name) {
  return Json::array({std::string(name) + (c.logits ? "ForCausalLM" : "Model")});
}

Json sizes_in_hub(const TransformerConfig& c) {
  return {{"hidden_size", c.width},
          {"num_hidden_layers", c.layers},
          {"num_attention_heads", c.heads},
          {"intermediate_size", c.ffn_width},
          {"max_position_embeddings", c.length}};
}

Json short_sizes_in_hub(const TransformerConfig& c) {
  return {{"n_embd", c.width},
          {"n_layer", c.layers},
          {"n_head", c.heads},
          {"n_inner", c.ffn_width},
          {"n_positions", c.length}};
}

void write_rope(const TransformerConfig& c, Json& json, const RopeKeys& keys) {
  const SchemeSpec* spec = find_spec(c, SchemeKind::rotated);
  if (spec == nullptr) return;
  json[std::string(keys.base)] = value_of(text_of(*spec, "base"));
  const auto rotated = value_of(text_of(*spec, "rotary_dim")).get<double>();
  if (!keys.partial.empty()) {
    json[std::string(keys.partial)] = rotated > 0 ? rotated / static_cast<double>(c.head_dim) : 1.0;
  }
  const auto* type = std::ranges::find(kRopeTypes, spec->scheme, &RopeType::scheme);
  if (type == std::end(kRopeTypes)) return;
  Json scaling = {{"rope_type", type->type}};
  for (const RopeKey& each : type->keys) {
    const bool given = spec->parameters.contains(std::string(each.parameter));
    const std::string text = text_of(*spec, each.parameter);
    if (text == "auto" || !(given || each.needed)) continue;
    scaling[std::string(each.key)] = value_of(text);
  }
  json["rope_scaling"] = scaling;
}

double alibi_max(const TransformerConfig& c) {
  const auto alibi = std::ranges::find(c.schemes, "alibi", &SchemeSpec::scheme);
  return alibi == c.schemes.end() ? 8 : value_of(text_of(*alibi, "max_bias")).get<double>();
}

void write_window(const TransformerConfig& c, Json& json) {
  const auto window = std::ranges::find(c.schemes, "window", &SchemeSpec::scheme);
  if (window == c.schemes.end()) return;
  json["sliding_window"] = 1 + value_of(text_of(*window, "left")).get<std::int64_t>();
}

}  // namespace sextant::hub
