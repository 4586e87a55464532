// Falcon (Almazrouei et al. 2023, 2311.16867): blocks side by side, one map for q, k and v by heads
// of keys. The new decoder architecture may have a norm for each block.
#include "hub/families.h"

namespace sextant::hub {
namespace {

bool has_two_norms(const ConfigObject& object) {
  return object.flag("new_decoder_architecture").value_or(false) &&
         object.integer("num_ln_in_parallel_attn").value_or(2) == 2;
}

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 65024, true);
  c.ffn_width = object.integer("ffn_hidden_size").value_or(4 * c.width);
  c.activation = activation_of(object, "activation", "gelu");
  c.norm_epsilon = object.positive_or("layer_norm_epsilon", 1e-5);
  c.bias = object.flag_or("bias", false);
  const bool parallel = object.flag_or("parallel_attn", true);
  if (has_two_norms(object)) {
    c.parallel_blocks = ParallelBlocks::two_norms;
  } else if (parallel) {
    c.parallel_blocks = ParallelBlocks::one_norm;
  } else if (object.flag("new_decoder_architecture").value_or(false)) {
    object.fail("parallel_attn", "must be true with new_decoder_architecture");
  }
  return c;
}

constexpr DecoderNames kNames = {.embedding = "word_embeddings",
                                 .layers = "h.",
                                 .final_norm = "ln_f",
                                 .qkv = "self_attention.query_key_value",
                                 .fused = Fused::groups,
                                 .out = "self_attention.dense",
                                 .up = "mlp.dense_h_to_4h",
                                 .down = "mlp.dense_4h_to_h",
                                 .norms = NormParts::gain_and_bias};

void add_weights(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  DecoderNames names = kNames;
  if (has_two_norms(object)) {
    names.self_norm = "ln_attn";
    names.feed_forward_norm = "ln_mlp";
  }
  add_decoder(c, names, table);
}

}  // namespace

const Family kFalcon = {"falcon", {"transformer.", kMasks}, read_config, add_weights};

}  // namespace sextant::hub
