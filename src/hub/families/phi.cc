// Phi (Li et al. 2023, 2309.05463): blocks side by side, biases everywhere. Phi-3 (2404.14219):
// Llama with fused maps.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig phi(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 51200, false);
  c.ffn_width = object.integer_or("intermediate_size", 8192);
  c.activation = activation_of(object, "hidden_act", "gelu_new");
  c.norm_epsilon = object.positive_or("layer_norm_eps", 1e-5);
  c.parallel_blocks = ParallelBlocks::one_norm;
  if (object.flag_or("qk_layernorm", false)) c.qk_norm = QkNorm::head;
  c.logits_bias = c.logits && !is_bare(object);
  return c;
}

TransformerConfig phi3(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 32064, false);
  c.ffn_width = object.integer_or("intermediate_size", 8192);
  c.activation = gate_of(object, "hidden_act", "silu");
  c.norm = NormKind::rms;
  c.norm_epsilon = object.positive_or("rms_norm_eps", 1e-5);
  c.bias = false;
  return c;
}

constexpr DecoderNames kPhiNames = {.final_norm = "final_layernorm",
                                    .out = "self_attn.dense",
                                    .up = "mlp.fc1",
                                    .down = "mlp.fc2",
                                    .q_norm = "self_attn.q_layernorm",
                                    .k_norm = "self_attn.k_layernorm",
                                    .norms = NormParts::gain_and_bias};

constexpr DecoderNames kPhi3Names = {.qkv = "self_attn.qkv_proj", .gate_up = "mlp.gate_up_proj"};

}  // namespace

const Family kPhi = {"phi", kModelRules, phi, add_decoder_of<kPhiNames>};
const Family kPhi3 = {"phi3", kModelRules, phi3, add_decoder_of<kPhi3Names>};

}  // namespace sextant::hub
