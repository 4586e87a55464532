// Turns a config.json into the positions of every layer: finds the text model, calls the reader of
// its type, and refuses keys that would be lost.
#include "sextant/interop/model_config.h"

#include <algorithm>
#include <variant>

#include "core/text/strings.h"
#include "interop/config/models.h"
#include "interop/config/other_keys.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"
#include "tables/rounded_rotation.h"

namespace sextant {

using namespace interop;

SchemeRequest LayerPositions::request(std::span<const std::int64_t> positions) const {
  SchemeRequest request;
  request.width = width;
  request.heads = heads;
  request.head_dim = head_dim;
  request.positions = positions;
  request.parameters = parameters;
  return request;
}

RotationTable<float> LayerPositions::rotation(std::span<const std::int64_t> positions) const {
  const SchemeTable table = find_scheme(scheme).make(request(positions));
  const auto* rotations = std::get_if<RotationTable<double>>(&table);
  if (rotations == nullptr) {
    throw Error("layer_positions.rotation",
                "must be of a layer whose scheme rotates, got the scheme " + scheme);
  }
  return rounded_rotation<float>(*rotations);
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
    layer.sinks = first.sinks;
    layer.softcap = first.softcap;
    return !(layer == first);
  });
}

namespace interop {

std::vector<std::string> model_types() {
  std::vector<std::string> names = rotary_model_types();
  for (std::string& name : unrotated_model_types()) names.push_back(std::move(name));
  std::ranges::sort(names);
  return names;
}

Json parse_config_json(std::string_view text, std::string_view where, std::string_view read_as) {
  Json json = Json::parse_object(text, where);
  if (read_as.empty()) return json;
  const std::vector<std::string> known = model_types();
  if (std::ranges::find(known, read_as) == known.end()) {
    throw Error("model_config.read_as",
                "must be one of " + joined(known, ", ") + ", got " + printable_quote(read_as));
  }
  const bool has_inner = json.contains("text_config") && json["text_config"].is_object();
  (has_inner ? json["text_config"] : json)["model_type"] = read_as;
  return json;
}

ModelConfig read_model_config(const Json& json, std::string_view where, bool is_read_as) {
  ConfigObject outer(json, std::string(where));
  if (is_read_as) outer.set_read_as();
  const auto inner = outer.object("text_config");
  const ConfigObject& object = inner ? *inner : outer;
  ModelConfig config;
  const auto outer_type = outer.text("model_type");
  const auto type = object.text("model_type");
  config.model_type = outer.need(type ? type : outer_type, "model_type");
  if (!read_rotary_model(object, config) && !read_unrotated_model(object, config)) {
    object.fail("model_type", "must be one of " + joined(model_types(), ", ") + ", got " +
                                  printable_quote(config.model_type) +
                                  "; read_as reads it as one of them");
  }
  const OtherKeys others(config);
  if (inner) others.check_beside(outer, object);
  others.check(object);
  return config;
}

}  // namespace interop

ModelConfig parse_model_config(std::string_view text, std::string_view where,
                               std::string_view read_as) {
  return read_model_config(parse_config_json(text, where, read_as), where, !read_as.empty());
}

ModelConfig load_model_config(const std::string& path, std::string_view read_as) {
  constexpr std::uint64_t kLargest = 16 << 20;
  return parse_model_config(read_file(path, kLargest), path, read_as);
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
