// StableLM (Bellagente et al. 2024, 2402.17834): Llama with layer norms. StarCoder 2 (Lozhkov et
// al. 2024, 2402.19173): with biases and without gates.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig stablelm(const ConfigObject& object, const ModelConfig& model) {
  if (object.flag_or("qk_layernorm", false)) {
    object.fail("qk_layernorm", "must be false: its norms have separate gains for each head");
  }
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 50304, false);
  c.ffn_width = object.integer_or("intermediate_size", 6912);
  c.activation = gate_of(object, "hidden_act", "silu");
  c.norm_epsilon = object.positive_or("layer_norm_eps", 1e-5);
  c.bias = false;
  c.qkv_bias = object.flag_or("use_qkv_bias", false);
  if (object.flag_or("use_parallel_residual", false)) {
    c.parallel_blocks = ParallelBlocks::one_norm;
  }
  return c;
}

TransformerConfig starcoder2(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 49152, true);
  c.ffn_width = object.integer_or("intermediate_size", 12288);
  c.activation = activation_of(object, "hidden_act", "gelu_pytorch_tanh");
  c.norm_epsilon = object.positive_or("norm_epsilon", 1e-5);
  c.bias = object.flag_or("use_bias", true);
  return c;
}

constexpr DecoderNames kStablelmNames = {.norms = NormParts::gain_and_bias};

constexpr DecoderNames kStarcoder2Names = {
    .up = "mlp.c_fc", .down = "mlp.c_proj", .norms = NormParts::gain_and_bias};

}  // namespace

const Family kStablelm = {"stablelm", kModelRules, stablelm, add_decoder_of<kStablelmNames>};
const Family kStarcoder2 = {"starcoder2", kModelRules, starcoder2,
                            add_decoder_of<kStarcoder2Names>};

}  // namespace sextant::hub
