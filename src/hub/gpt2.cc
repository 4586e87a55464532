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
  config.vocabulary = object.integer_or("vocab_size", 50257);
  config.ffn_width = object.integer("n_inner").value_or(4 * config.width);
  config.activation = activation_of(object, "activation_function", "gelu_new");
  config.norm_epsilon = object.positive_or("layer_norm_epsilon", 1e-5);
  config.tied = object.flag_or("tie_word_embeddings", true);
  config.logits = config.tied || !is_bare(object);
  return config;
}

void add_weights(const ConfigObject& /*object*/, const TransformerConfig& c, WeightTable& table) {
  table.matrix("embedding.weight", "wte.weight", c.vocabulary, c.width);
  table.matrix("positions.table", "wpe.weight", c.length, c.width);
  for (std::int64_t i = 0; i < c.layers; ++i) {
    table.enter("stack." + std::to_string(i) + ".", "h." + std::to_string(i) + ".");
    table.norm("self_norm", "ln_1", c.width, true);
    table.linear("self.in", {{"attn.c_attn", 3 * c.width}}, c.width, true, Stored::columns);
    table.linear("self.out", {{"attn.c_proj", c.width}}, c.width, true, Stored::columns);
    table.norm("feed_forward_norm", "ln_2", c.width, true);
    table.linear("feed_forward.in", {{"mlp.c_fc", c.ffn_width}}, c.width, true, Stored::columns);
    table.linear("feed_forward.out", {{"mlp.c_proj", c.width}}, c.ffn_width, true, Stored::columns);
  }
  table.enter("", "");
  table.norm("stack.final_norm", "ln_f", c.width, true);
  table.head("lm_head.weight", "wte.weight", c);
}

// Masks, which older versions stored.
constexpr std::string_view kSkipped[] = {".attn.bias", ".attn.masked_bias"};

}  // namespace

const Family kGpt2 = {"gpt2", {"transformer.", kSkipped}, read_config, add_weights};

}  // namespace sextant::hub
