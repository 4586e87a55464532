// Names of the tensors of checkpoints, as on the Hugging Face hub and in Meta's own files.
#include "interop/checkpoint_modules.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"

namespace sextant::interop {

namespace {

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    parts.emplace_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  parts.emplace_back(name);
  return parts;
}

// The usual names of modules.
std::optional<RotaryModule> default_module(const std::string& part, const ModelConfig& config) {
  if (part == "q_proj" || part == "wq" || part == "q_b_proj") return RotaryModule::q;
  if (part == "k_proj" || part == "wk") return RotaryModule::k;
  if (part == "q_norm" || part == "q_layernorm") return RotaryModule::q_norm;
  if (part == "k_norm" || part == "k_layernorm") return RotaryModule::k_norm;
  if (part == "kv_a_proj_with_mqa") return RotaryModule::latent_k;
  if (part == "qkv_proj" && config.model_type == "phi3") return RotaryModule::qkv;
  if (part == "Wqkv" && config.model_type == "modernbert") return RotaryModule::qkv;
  if (part == "query_key_value" && config.model_type == "gpt_neox") {
    return RotaryModule::qkv_by_group;
  }
  if (part == "query_key_value" && config.model_type == "falcon") {
    return RotaryModule::qkv_by_group;  // with one head of keys it is q, k, v
  }
  return std::nullopt;
}

// Parts of a name that have to do with q and k without being rows of them.
bool is_harmless(const std::string& part) {
  constexpr std::array kNames = {"q_a_proj", "q_a_layernorm", "rotary_emb"};
  return std::find(kNames.begin(), kNames.end(), part) != kNames.end();
}

bool mentions_q_or_k(const std::string& part) {
  constexpr std::array kBegins = {"q_", "k_", "query",  "key",     "qkv",    "Wqkv",
                                  "wq", "wk", "c_attn", "in_proj", "W_pack", "q_proj"};
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [&](const char* begin) { return part.starts_with(begin); });
}

// Parts of models other than the text model.
bool is_other_modality(const std::string& part) {
  constexpr std::array kNames = {"visual",         "vision_tower", "vision_model",
                                 "vision_encoder", "audio_tower",  "multi_modal_projector"};
  return std::find(kNames.begin(), kNames.end(), part) != kNames.end();
}

// Where the number of the layer is among the parts; the end: nowhere.
std::size_t layer_part(const std::vector<std::string>& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i) {
    constexpr std::array kLists = {"layers", "layer", "h", "blocks", "block"};
    const std::string& text = parts[i];
    if (std::find(kLists.begin(), kLists.end(), parts[i - 1]) == kLists.end()) continue;
    if (!text.empty() && text.size() < 9 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return i;
    }
  }
  return parts.size();
}

std::optional<RotaryModule> named(const std::string& module, const RotaryModules& names) {
  for (const auto& [end, kind] : names) {
    if (module == end || module.ends_with("." + end)) return kind;
  }
  return std::nullopt;
}

}  // namespace

bool rotates(const LayerPositions& layer) { return layer.parameters.contains("layout"); }

std::optional<RotaryTensor> rotary_tensor(const std::string& name, const ModelConfig& config,
                                          const RotaryModules& names, std::string_view where) {
  const std::vector<std::string> parts = parts_of(name);
  if (std::any_of(parts.begin(), parts.end(), is_other_modality)) return std::nullopt;
  const std::size_t at = layer_part(parts);
  const auto fail = [&](const std::string& what) {
    throw Error(where, "tensor " + printable_quote(name, interop::kNameBytes) + " " + what);
  };
  std::optional<RotaryModule> module;
  const std::string& leaf = parts.back();
  const bool is_whole = leaf == "weight" || leaf == "bias";
  if (is_whole && at + 2 < parts.size()) {
    std::string path;
    for (std::size_t i = at + 1; i + 1 < parts.size(); ++i) {
      path += (path.empty() ? "" : ".") + parts[i];
    }
    module = named(path, names);
    if (!module) module = default_module(parts[parts.size() - 2], config);
  }
  if (!module) {
    for (const std::string& part : parts) {
      if (!mentions_q_or_k(part) || is_harmless(part)) continue;
      if (part == "c_attn") {
        fail("is of a kind that is not supported: c_attn holds columns, not rows, of q, k and v");
      }
      fail("refers to q or k, but is not known for the model type " + config.model_type +
           ": it may have to be permuted (name it with --names)");
    }
    return std::nullopt;
  }
  RotaryTensor tensor;
  tensor.module = *module;
  tensor.layer = parse_int64(parts[at], where);
  const auto layers = static_cast<std::int64_t>(config.layers.size());
  if (tensor.layer >= layers) {
    fail("is of layer " + std::to_string(tensor.layer) + ", but the config has " +
         std::to_string(layers) + " layers");
  }
  if (!rotates(layer_positions(config, tensor.layer))) return std::nullopt;
  return tensor;
}

}  // namespace sextant::interop

namespace sextant {

RotaryModules parse_module_names(std::string_view list, std::string_view where) {
  constexpr std::array<std::pair<std::string_view, RotaryModule>, 6> kKinds = {
      {{"q", RotaryModule::q},
       {"k", RotaryModule::k},
       {"qkv", RotaryModule::qkv},
       {"qkv_by_group", RotaryModule::qkv_by_group},
       {"q_norm", RotaryModule::q_norm},
       {"k_norm", RotaryModule::k_norm}}};
  RotaryModules names;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const std::string_view one = list.substr(0, comma);
    const auto equals = one.find('=');
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& each) {
      return equals != std::string_view::npos && each.first == one.substr(0, equals);
    });
    if (kind == kKinds.end() || equals + 1 == one.size()) {
      throw Error(where,
                  "must be KIND=NAME,... with the kinds q, k, qkv, qkv_by_group, q_norm and "
                  "k_norm, got " +
                      printable_quote(one, interop::kNameBytes));
    }
    names.emplace(one.substr(equals + 1), kind->second);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

}  // namespace sextant
