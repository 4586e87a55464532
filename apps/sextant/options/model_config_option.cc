// --config and --layer.
#include "options/model_config_option.h"

#include "interop/config/models.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "positions/encode_command.h"
#include "sextant/core/error.h"

namespace sextant::app {

CLI::Option* add_read_as(CLI::App& command, std::string& read_as) {
  return command
      .add_option("--read-as", read_as,
                  "read a Hugging Face model of an unknown type as this model type: llama, qwen3, "
                  "bert, ...")
      ->type_name("TYPE")
      ->check(one_of(command.get_name() + ".read-as", interop::model_types()));
}

void ModelConfigOption::add_to(CLI::App& command) {
  auto* config = input_file(
      command.add_option("--config", path,
                         "take the scheme and its parameters from a model's config.json, "
                         "as on the Hugging Face hub"));
  add_integer(command, "--layer", layer, 0, kMaxInteger,
              "with --config: the layer, from 0; required if tables differ between layers")
      ->needs(config);
  add_read_as(command, read_as)->needs(config);
}

ModelLayer ModelConfigOption::read() const {
  const ModelConfig config = load_model_config(path, read_as);
  const auto layers = static_cast<std::int64_t>(config.layers.size());
  if (layer && *layer >= layers) {
    throw Error("encode.layer", "must be 0 .. " + std::to_string(layers - 1) + " for " + path +
                                    ", got " + std::to_string(*layer));
  }
  if (!layer && config.tables_differ()) {
    throw Error("encode.layer",
                "must be given for " + path + ": its " + std::to_string(layers) + " layers differ");
  }
  return {layer_positions(config, layer.value_or(0)), !layer && config.layers_differ()};
}

Json about_layer(const ModelLayer& layer) {
  const auto if_alike = [&](Json value) { return layer.masks_differ ? Json() : std::move(value); };
  Json json;
  json["stack"] = if_alike(layer.decoder ? "decoder" : "encoder");
  json["width"] = layer.width;
  json["heads"] = layer.heads;
  json["kv_heads"] = if_alike(layer.kv_heads);
  json["head_dim"] = layer.head_dim;
  json["causal"] = if_alike(layer.causal);
  json["window"] = if_alike({layer.window_left, layer.window_right});
  json["chunk"] = if_alike(layer.chunk > 0 ? Json(layer.chunk) : Json());
  json["scale"] = layer.scale ? Json(*layer.scale) : Json();
  json["softcap"] = layer.softcap > 0 ? Json(layer.softcap) : Json();
  json["sinks"] = layer.sinks;
  if (layer.bias_factor != 1) json["bias_factor"] = layer.bias_factor;
  if (layer.table_rows > 0) json["table_rows"] = layer.table_rows;
  return json;
}

void take_model(Encode& encode) {
  encode.layer = encode.model.read();
  const ModelLayer& layer = *encode.layer;
  for (const auto& [name, value] : layer.parameters) {
    if (encode.choice.parameters.emplace(name, value).second) continue;
    throw Error("encode.config", "says " + name + " = " + value + ", and " + option_name(name) +
                                     " must not be given with it");
  }
  encode.choice.scheme = layer.scheme;
  encode.heads = layer.heads;
  if (encode.choice.descriptor().kind == SchemeKind::added) {
    encode.width = layer.width;
  } else {
    encode.head_dim = layer.head_dim;
  }
}

bool tell_model(const Encode& encode) {
  const Scheme& scheme = encode.choice.descriptor();
  const bool is_learned = !scheme.weights.empty() && encode.choice.weights_file.empty() &&
                          !encode.choice.parameters.contains("file");
  const bool has_table = scheme.kind != SchemeKind::none && scheme.kind != SchemeKind::content;
  if (has_table && !is_learned) return false;
  const auto format = encode.output.format(kTableFormats, "encode");
  if (format != Format::json) {
    const std::string name(scheme.name);
    throw Error(
        "encode.config",
        has_table
            ? "must be given with --scheme-weights, or with --json for the values in the config: " +
                  name + " has a table that is learned"
            : "must be given with --json: this layer has the scheme " + name +
                  ", which makes no table");
  }
  Json json;
  json["scheme"] = scheme.name;
  json["kind"] = name_of(scheme.kind);
  json["parameters"] = resolved_parameters(scheme, encode.choice.parameters);
  json["model"] = about_layer(*encode.layer);
  write_result(encode.output, Format::json, to_text(json) + "\n");
  return true;
}

}  // namespace sextant::app
