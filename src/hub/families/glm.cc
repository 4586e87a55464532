// Reads GLM-4 (GLM Team 2024, 2406.12793): Llama with biases of q, k and v, gate and up in one map;
// the type glm4 also has norms of the blocks' results.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig glm(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 151552, false);
  c.ffn_width = object.integer_or("intermediate_size", 13696);
  c.activation = gate_of(object, "hidden_act", "silu");
  c.norm = NormKind::rms;
  c.norm_epsilon = object.positive_or("rms_norm_eps", 1.5625e-7);
  c.bias = false;
  c.qkv_bias = object.flag_or("attention_bias", true);
  return c;
}

TransformerConfig glm4(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = glm(object, model);
  c.output_norm = true;
  return c;
}

constexpr DecoderNames kNames = {.gate_up = "mlp.gate_up_proj",
                                 .self_output_norm = "post_self_attn_layernorm",
                                 .feed_forward_output_norm = "post_mlp_layernorm"};

}  // namespace

const Family kGlm = {"glm", kModelRules, glm, add_decoder_of<kNames>};
const Family kGlm4 = {"glm4", kModelRules, glm4, add_decoder_of<kNames>};

}  // namespace sextant::hub
