// ModernBERT (Warner et al. 2024, 2412.13663): rotary positions of two bases, windows in two layers
// of three, gates by gelu, a first attention without norm.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  c.vocabulary = object.integer_or("vocab_size", 50368);
  c.ffn_width = object.integer_or("intermediate_size", 1152);
  c.activation = gate_of(object, "hidden_activation", "gelu");
  c.norm_epsilon = object.positive_or("norm_eps", 1e-5);
  c.first_norm = false;
  c.embedding_norm = true;
  c.bias = false;
  c.qkv_bias = c.out_bias = object.flag_or("attention_bias", false);
  c.ffn_bias = object.flag_or("mlp_bias", false);
  c.logits = c.logits_transform = is_class(object, {"ModernBertForMaskedLM"});
  if (!c.logits) return c;
  if (activation_of(object, "classifier_activation", "gelu") != function_of(c.activation)) {
    object.fail("classifier_activation", "must equal hidden_activation");
  }
  c.tied = object.flag_or("tie_word_embeddings", true);
  c.logits_bias = object.flag_or("decoder_bias", true);
  return c;
}

DecoderNames names_of(const ConfigObject& object) {
  const bool biases = object.flag_or("norm_bias", false);
  return {.embedding = "embeddings.tok_embeddings",
          .embedding_norm = "embeddings.norm",
          .final_norm = "final_norm",
          .head = "decoder",
          .qkv = "attn.Wqkv",
          .out = "attn.Wo",
          .gate_up = "mlp.Wi",
          .down = "mlp.Wo",
          .self_norm = "attn_norm",
          .feed_forward_norm = "mlp_norm",
          .norms = biases ? NormParts::gain_and_bias : NormParts::gain};
}

void add_weights(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  const DecoderNames names = names_of(object);
  add_decoder(c, names, table);
  if (!c.logits) return;
  const bool bias = object.flag_or("classifier_bias", false);
  table.linear("output.transform.dense", {{"head.dense", c.width}}, c.width, bias);
  if (!bias) table.constant("output.transform.dense.bias", c.width, 0);
  table.norm("output.transform.norm", "head.norm", c.width, c.norm, names.norms);
}

// The head, where the class of the model has none.
constexpr std::string_view kSkipped[] = {"head.", "decoder."};

}  // namespace

const Family kModernbert = {"modernbert", {"model.", kSkipped}, read_config, add_weights};

}  // namespace sextant::hub
