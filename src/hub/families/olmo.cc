// Reads OLMo (Groeneveld et al. 2024, 2402.00838), Llama with layer norms that have no weights;
// OLMo 2 (2501.00656), with norms only of the blocks' results, and of all of q and of k; and OLMo
// 3, the same with a window in three layers of four.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 50304, false);
  c.ffn_width = object.integer_or("intermediate_size", 11008);
  c.activation = gate_of(object, "hidden_act", "silu");
  c.bias = false;
  c.qkv_bias = c.out_bias = object.flag_or("attention_bias", false);
  return c;
}

TransformerConfig olmo(const ConfigObject& object, const ModelConfig& model) {
  refuse_key(object, "clip_qkv", "q, k and v are not clipped here");
  TransformerConfig c = read_config(object, model);
  c.norm_epsilon = 1e-5;  // of the class: no key gives it
  return c;
}

TransformerConfig olmo2(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model);
  c.norm = NormKind::rms;
  c.norm_epsilon = object.positive_or("rms_norm_eps", 1e-5);
  c.pre_norm = false;
  c.output_norm = true;
  c.qk_norm = QkNorm::all;
  return c;
}

constexpr DecoderNames kOlmoNames = {.norms = NormParts::nothing};

constexpr DecoderNames kOlmo2Names = {.self_norm = "post_attention_layernorm",
                                      .feed_forward_norm = "post_feedforward_layernorm"};

}  // namespace

const Family kOlmo = {"olmo", kModelRules, olmo, add_decoder_of<kOlmoNames>};
const Family kOlmo2 = {"olmo2", kModelRules, olmo2, add_decoder_of<kOlmo2Names>};
const Family kOlmo3 = {"olmo3", kModelRules, olmo2, add_decoder_of<kOlmo2Names>};

}  // namespace sextant::hub
