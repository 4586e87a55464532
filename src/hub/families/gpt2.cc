// GPT-2 (Radford et al. 2019): learned positions, norms before the blocks, maps stored [in, out].
#include "hub/families.h"
#include "hub/written_keys.h"

namespace sextant::hub {
namespace {

bool divides_by_layer(const ConfigObject& object) {
  return object.flag_or("scale_attn_by_inverse_layer_idx", false);
}

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& given) {
  ModelConfig model = given;
  if (divides_by_layer(object)) {  // in the maps to q, where they are read
    for (LayerPositions& layer : model.layers) layer.scale = model.layers.front().scale;
  }
  TransformerConfig config = shared_config(object, model);
  read_ends(object, config, 50257, true);
  config.ffn_width = object.integer("n_inner").value_or(4 * config.width);
  config.activation = activation_of(object, "activation_function", "gelu_new");
  config.norm_epsilon = object.positive_or("layer_norm_epsilon", 1e-5);
  return config;
}

constexpr DecoderNames kNames = {.embedding = "wte",
                                 .positions = "wpe",
                                 .layers = "h.",
                                 .final_norm = "ln_f",
                                 .qkv = "attn.c_attn",
                                 .out = "attn.c_proj",
                                 .up = "mlp.c_fc",
                                 .down = "mlp.c_proj",
                                 .self_norm = "ln_1",
                                 .feed_forward_norm = "ln_2",
                                 .norms = NormParts::gain_and_bias,
                                 .stored = Stored::columns};

Json write(const TransformerConfig& c) {
  Json json = short_sizes_in_hub(c);
  json["architectures"] = Json::array({c.logits ? "GPT2LMHeadModel" : "GPT2Model"});
  json["activation_function"] = name_in_hub(c.activation);
  json["layer_norm_epsilon"] = c.norm_epsilon;
  return json;
}

void add_weights(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  add_decoder(c, kNames, table);
  for (std::int64_t i = 1; i < c.layers && divides_by_layer(object); ++i) {
    table.scale_rows("stack." + std::to_string(i) + ".self.in", c.heads * c.head_dim,
                     1 / static_cast<double>(i + 1));
  }
}

}  // namespace

const Family kGpt2 = {"gpt2", {"transformer.", kMasks}, read_config, add_weights, write};

}  // namespace sextant::hub
