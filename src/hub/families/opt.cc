// OPT (Zhang et al. 2022, 2205.01068): GPT-2 with ReLU and a table of positions whose first two
// rows are of padding.
#include "hub/families.h"
#include "hub/written_keys.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 50272, true);
  if (object.integer_or("word_embed_proj_dim", c.width) != c.width) {
    object.fail("word_embed_proj_dim", "must be hidden_size: embeddings are not projected here");
  }
  c.ffn_width = object.integer_or("ffn_dim", 3072);
  c.activation = activation_of(object, "activation_function", "relu");
  c.bias = object.flag_or("enable_bias", true);
  c.pre_norm = object.flag_or("do_layer_norm_before", true);
  c.final_norm = c.pre_norm && !object.flag_or("_remove_final_layer_norm", false);
  return c;
}

constexpr DecoderNames kNames = {.embedding = "decoder.embed_tokens",
                                 .positions = "decoder.embed_positions",
                                 .first_position = 2,
                                 .layers = "decoder.layers.",
                                 .final_norm = "decoder.final_layer_norm",
                                 .out = "self_attn.out_proj",
                                 .up = "fc1",
                                 .down = "fc2",
                                 .self_norm = "self_attn_layer_norm",
                                 .feed_forward_norm = "final_layer_norm",
                                 .norms = NormParts::gain_and_bias};

Json write(const TransformerConfig& c) {
  Json json = sizes_in_hub(c);
  json["architectures"] = class_in_hub(c, "OPT");
  json["ffn_dim"] = c.ffn_width;
  json["word_embed_proj_dim"] = c.width;
  json["activation_function"] = name_in_hub(c.activation);
  json["enable_bias"] = c.bias;
  json["do_layer_norm_before"] = c.pre_norm;
  json["_remove_final_layer_norm"] = c.pre_norm && !c.final_norm;
  return json;
}

void add_weights(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  DecoderNames names = kNames;
  if (!object.flag_or("layer_norm_elementwise_affine", true)) names.norms = NormParts::nothing;
  add_decoder(c, names, table);
}

}  // namespace

const Family kOpt = {"opt", {"model.", kMasks}, read_config, add_weights, write};

}  // namespace sextant::hub
