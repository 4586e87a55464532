// Llama (Touvron et al. 2023), and what has its architecture: Mistral with a window for all layers,
// Qwen 2 with biases of q, k and v.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model,
                              std::int64_t vocabulary, std::int64_t ffn_width) {
  TransformerConfig config = shared_config(object, model);
  config.vocabulary = object.integer_or("vocab_size", vocabulary);
  config.ffn_width = object.integer_or("intermediate_size", ffn_width);
  if (activation_of(object, "hidden_act", "silu") != Activation::silu) {
    object.fail("hidden_act", "must be silu, the only gate that models here have");
  }
  config.activation = Activation::swiglu;
  config.norm = NormKind::rms;
  config.norm_epsilon = object.positive_or("rms_norm_eps", 1e-6);
  config.bias = false;
  config.tied = object.flag_or("tie_word_embeddings", false);
  config.logits = config.tied || !is_bare(object);
  return config;
}

TransformerConfig llama(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 32000, 11008);
  c.bias = object.flag_or("attention_bias", false);
  c.ffn_bias = object.flag_or("mlp_bias", false);
  if (c.bias && !c.ffn_bias) {
    object.fail("attention_bias",
                "must be false where mlp_bias is: maps of q, k, v and the result have no biases "
                "here where those of feed-forward layers have none");
  }
  return c;
}

TransformerConfig mistral(const ConfigObject& object, const ModelConfig& model) {
  return read_config(object, model, 32000, 14336);
}

TransformerConfig qwen2(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 151936, 22016);
  c.qkv_bias = true;
  return c;
}

void add_weights(const ConfigObject& /*object*/, const TransformerConfig& c, WeightTable& table) {
  const std::int64_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  const bool of_qkv = c.bias || c.qkv_bias, of_ffn = c.bias || c.ffn_bias;
  table.matrix("embedding.weight", "embed_tokens.weight", c.vocabulary, c.width);
  for (std::int64_t i = 0; i < c.layers; ++i) {
    table.enter("stack." + std::to_string(i) + ".", "layers." + std::to_string(i) + ".");
    table.norm("self_norm", "input_layernorm", c.width, false);
    table.linear("self.in",
                 {{"self_attn.q_proj", q}, {"self_attn.k_proj", kv}, {"self_attn.v_proj", kv}},
                 c.width, of_qkv);
    table.linear("self.out", {{"self_attn.o_proj", c.width}}, q, c.bias);
    table.norm("feed_forward_norm", "post_attention_layernorm", c.width, false);
    table.linear("feed_forward.in", {{"mlp.gate_proj", c.ffn_width}, {"mlp.up_proj", c.ffn_width}},
                 c.width, of_ffn);
    table.linear("feed_forward.out", {{"mlp.down_proj", c.width}}, c.ffn_width, of_ffn);
  }
  table.enter("", "");
  table.norm("stack.final_norm", "norm", c.width, false);
  table.head("lm_head.weight", "embed_tokens.weight", c);
}

constexpr std::string_view kSkipped[] = {".rotary_emb.inv_freq"};  // computed from config.json

}  // namespace

const Family kLlama = {"llama", {"model.", kSkipped}, llama, add_weights};
const Family kMistral = {"mistral", {"model.", kSkipped}, mistral, add_weights};
const Family kQwen2 = {"qwen2", {"model.", kSkipped}, qwen2, add_weights};

}  // namespace sextant::hub
