// GPT-NeoX and Pythia (Black et al. 2022, 2204.06745): blocks side by side with two norms, one map
// for q, k and v whose rows go head by head.
#include "hub/families.h"
#include "hub/written_keys.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 50432, false);
  c.ffn_width = object.integer_or("intermediate_size", 24576);
  c.activation = activation_of(object, "hidden_act", "gelu");
  c.norm_epsilon = object.positive_or("layer_norm_eps", 1e-5);
  c.bias = object.flag_or("attention_bias", true);
  c.ffn_bias = true;
  if (object.flag_or("use_parallel_residual", true)) c.parallel_blocks = ParallelBlocks::two_norms;
  return c;
}

constexpr DecoderNames kNames = {.embedding = "embed_in",
                                 .final_norm = "final_layer_norm",
                                 .head = "embed_out",
                                 .qkv = "attention.query_key_value",
                                 .fused = Fused::groups,
                                 .out = "attention.dense",
                                 .up = "mlp.dense_h_to_4h",
                                 .down = "mlp.dense_4h_to_h",
                                 .norms = NormParts::gain_and_bias};

Json write(const TransformerConfig& c) {
  Json json = sizes_in_hub(c);
  json["architectures"] = class_in_hub(c, "GPTNeoX");
  json["hidden_act"] = name_in_hub(c.activation);
  json["layer_norm_eps"] = c.norm_epsilon;
  json["attention_bias"] = c.bias;
  json["use_parallel_residual"] = c.parallel_blocks == ParallelBlocks::two_norms;
  write_rope(c, json, {.base = "rotary_emb_base", .partial = "rotary_pct"});
  return json;
}

}  // namespace

const Family kGptNeox = {
    "gpt_neox", {"gpt_neox.", kMasks}, read_config, add_decoder_of<kNames>, write};

}  // namespace sextant::hub
