// GPT-2 (Radford et al. 2019): learned positions, norms before the blocks, maps stored [in, out].
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  refuse_flag(object, "scale_attn_by_inverse_layer_idx");
  if (!object.flag_or("scale_attn_weights", true)) {
    object.fail("scale_attn_weights", "must be true: scores are divided by the root of head_dim");
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

void add_weights(const ConfigObject& /*object*/, const TransformerConfig& c, WeightTable& table) {
  add_decoder(c, kNames, table);
}

}  // namespace

const Family kGpt2 = {"gpt2", {"transformer.", kMasks}, read_config, add_weights};

}  // namespace sextant::hub
