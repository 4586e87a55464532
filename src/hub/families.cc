// What the families share.
#include "hub/families.h"

#include <algorithm>

#include "core/text/quoted_text.h"

namespace sextant::hub {

const Family& find_family(const ConfigObject& object) {
  const std::string type = object.need(object.text("model_type"), "model_type");
  for (const Family* family : {&kBert, &kGpt2, &kLlama, &kMistral, &kQwen2}) {
    if (family->model_type == type) return *family;
  }
  object.fail("model_type",
              "must be bert, gpt2, llama, mistral or qwen2, got " + quoted_text(type));
}

TransformerConfig shared_config(const ConfigObject& object, const ModelConfig& model) {
  refuse_flag(object, "is_encoder_decoder");
  refuse_flag(object, "add_cross_attention");
  if (object.has("quantization_config")) {
    object.fail("quantization_config", "must not be there: quantised weights are not read");
  }
  if (object.has("pruned_heads") && !object.json()["pruned_heads"].empty()) {
    object.fail("pruned_heads", "must be empty: all layers have the same heads");
  }
  const LayerPositions& layer = model.layers.front();
  if (model.layers_differ()) {
    object.fail(object.has("layer_types") ? "layer_types" : "max_window_layers",
                "must give all layers the same window: a model here has one for all");
  }
  if (layer.scale || layer.softcap != 0 || layer.sinks || layer.chunk != 0) {
    object.fail("model_type", "must have plain scores, as models here do");
  }
  TransformerConfig config;
  config.kind = layer.causal ? ModelKind::causal : ModelKind::masked;
  config.width = layer.width;
  config.heads = layer.heads;
  config.kv_heads = layer.kv_heads;
  config.head_dim = layer.head_dim;
  config.layers = static_cast<std::int64_t>(model.layers.size());
  config.embedding_scale = 1;
  config.positions = {{layer.scheme, layer.parameters}};
  if (layer.window_left >= 0) {
    config.positions.push_back({"window", {{"left", std::to_string(layer.window_left)}}});
  }
  const std::int64_t length = layer.table_rows > 0 ? layer.table_rows : model.max_positions;
  if (length > 0) config.length = length;
  return config;
}

void refuse_flag(const ConfigObject& object, std::string_view key) {
  if (object.flag(key).value_or(false)) object.fail(key, "must be false: models here have none");
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
  object.fail(key, "must be relu, gelu, gelu_new or silu, got " + quoted_text(name));
}

bool is_bare(const ConfigObject& object) {
  const auto names = object.texts("architectures");
  return names && !names->empty() && names->front().ends_with("Model") &&
         !names->front().ends_with("LMHeadModel");
}

}  // namespace sextant::hub
