// Gemma (Gemma Team 2024, 2403.08295): gates by gelu, norms multiply by 1 + weight. Gemma 2
// (2408.00118) has norms on both sides of each block and caps, Gemma 3 (2503.19786) norms of q and
// k.
#include "hub/families.h"
#include "sextant/core/printable.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model,
                              std::int64_t vocabulary, std::int64_t ffn_width) {
  TransformerConfig config = shared_config(object, model);
  read_ends(object, config, vocabulary, true);
  config.embedding_scale = 0;  // the root of the width
  config.ffn_width = object.integer_or("intermediate_size", ffn_width);
  config.norm = NormKind::rms;
  config.norm_epsilon = object.positive_or("rms_norm_eps", 1e-6);
  config.bias = false;
  config.qkv_bias = config.out_bias = object.flag_or("attention_bias", false);
  return config;
}

TransformerConfig gemma(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 256000, 24576);
  c.activation = gate_of(object, "hidden_act", "gelu_pytorch_tanh");
  // The first files say gelu and mean its approximation, which this key says.
  const auto meant = object.text("hidden_activation");
  if (meant && activation_of(object, "hidden_activation", "") != function_of(c.activation)) {
    object.fail("hidden_activation", "must equal hidden_act, got " + printable_quote(*meant));
  }
  return c;
}

TransformerConfig gemma2(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 256000, 9216);
  c.activation = gate_of(object, "hidden_activation", "gelu_pytorch_tanh");
  c.output_norm = true;
  const auto cap = object.positive("final_logit_softcapping");
  c.logits_softcap = cap.value_or(object.is_absent("final_logit_softcapping") ? 30 : 0);
  return c;
}

TransformerConfig gemma3(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 262208, 9216);
  c.activation = gate_of(object, "hidden_activation", "gelu_pytorch_tanh");
  c.output_norm = true;
  c.qk_norm = QkNorm::head;
  c.logits_softcap = object.positive("final_logit_softcapping").value_or(0);
  return c;
}

constexpr DecoderNames kGemmaNames = {.norms = NormParts::gain_less_one};

constexpr DecoderNames kGemma2Names = {.self_output_norm = "post_attention_layernorm",
                                       .feed_forward_norm = "pre_feedforward_layernorm",
                                       .feed_forward_output_norm = "post_feedforward_layernorm",
                                       .norms = NormParts::gain_less_one};

}  // namespace

const Family kGemma = {"gemma", kModelRules, gemma, add_decoder_of<kGemmaNames>};
const Family kGemma2 = {"gemma2", kModelRules, gemma2, add_decoder_of<kGemma2Names>};
const Family kGemma3 = {"gemma3_text", kModelRules, gemma3, add_decoder_of<kGemma2Names>};

}  // namespace sextant::hub
