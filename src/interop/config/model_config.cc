// From a config.json to the positions of every layer: finds the text model, asks who knows its
// type, and refuses what nobody looked at.
#include "sextant/interop/model_config.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/quoted_text.h"
#include "interop/config/models.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

using namespace interop;

// A key with one of these in it says something about positions.
bool speaks_of_positions(std::string_view key) {
  constexpr std::array kWords = {"rope",        "rotary",          "alibi",
                                 "position",    "relative",        "pos_att",
                                 "pos_emb",     "sliding",         "window",
                                 "layer_types", "attention_chunk", "temperature_tuning",
                                 "floor_scale", "attn_scale",      "local_attention",
                                 "global_attn", "attention_types"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* word) { return key.find(word) != std::string_view::npos; });
}

void refuse_unread_positions(const ConfigObject& object, const std::string& model_type) {
  for (const Json::Member* each : object.unread()) {
    const auto& [key, value] = *each;
    if (!speaks_of_positions(key) || value == Json(false)) continue;
    object.fail(key, "is about positions, but is not known for the model type " + model_type +
                         ": it would be lost");
  }
}

// Beside a text_config: nothing of the text model, or the same again.
void check_beside(const ConfigObject& outer, const ConfigObject& text) {
  std::map<std::string_view, const Json*> inner;  // a config may have a million keys
  for (const auto& [key, value] : text.json().items()) inner.emplace(key, &value);
  for (const auto& [key, value] : outer.json().items()) {
    if (!speaks_of_positions(key) || value.is_null() || value == Json(false)) continue;
    const auto inside = inner.find(key);
    if (inside != inner.end() && *inside->second == value) continue;
    outer.fail(key, inside == inner.end()
                        ? "is about positions, but is not in text_config, which is what is read"
                        : "must be the same as in text_config");
  }
}

std::string listed(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

SchemeRequest LayerPositions::request(std::span<const std::int64_t> positions) const {
  SchemeRequest request;
  request.width = width;
  request.heads = heads;
  request.head_dim = head_dim;
  request.positions = positions;
  request.parameters = parameters;
  return request;
}

bool ModelConfig::layers_differ() const noexcept {
  return std::any_of(layers.begin(), layers.end(),
                     [&](const LayerPositions& layer) { return !(layer == layers.front()); });
}

bool ModelConfig::tables_differ() const noexcept {
  return std::any_of(layers.begin(), layers.end(), [&](LayerPositions layer) {
    const LayerPositions& first = layers.front();
    layer.decoder = first.decoder;
    layer.kv_heads = first.kv_heads;
    layer.causal = first.causal;
    layer.window_left = first.window_left;
    layer.window_right = first.window_right;
    layer.chunk = first.chunk;
    return !(layer == first);
  });
}

ModelConfig parse_model_config(std::string_view text, std::string_view where) {
  const Json json = Json::parse_object(text, where);
  const ConfigObject outer(json, std::string(where));
  const auto inner = outer.object("text_config");
  const ConfigObject& object = inner ? *inner : outer;
  ModelConfig config;
  const auto outer_type = outer.text("model_type");
  const auto type = object.text("model_type");
  config.model_type = outer.need(type ? type : outer_type, "model_type");
  if (!read_rotary_model(object, config) && !read_unrotated_model(object, config)) {
    std::vector<std::string> names = rotary_model_types();
    for (const std::string& name : unrotated_model_types()) names.push_back(name);
    object.fail("model_type",
                "must be one of " + listed(names) + ", got " + quoted_text(config.model_type));
  }
  if (inner) check_beside(outer, object);
  refuse_unread_positions(object, config.model_type);
  return config;
}

ModelConfig load_model_config(const std::string& path) {
  constexpr std::uint64_t kLargest = 16 << 20;
  return parse_model_config(read_file(path, kLargest), path);
}

const LayerPositions& layer_positions(const ModelConfig& config, std::int64_t layer) {
  const auto count = static_cast<std::int64_t>(config.layers.size());
  if (layer < 0 || layer >= count) {
    throw Error("layer_positions.layer",
                "must be 0 .. " + std::to_string(count - 1) + ", got " + std::to_string(layer));
  }
  return config.layers[static_cast<std::size_t>(layer)];
}

}  // namespace sextant
