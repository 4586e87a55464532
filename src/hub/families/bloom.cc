// BLOOM (BigScience 2022, 2211.05100): ALiBi, a norm of the embedding, one map for q, k and v whose
// rows go head by head. MPT (MosaicML 2023): ALiBi, no bias anywhere.
#include "hub/families.h"
#include "hub/written_keys.h"

namespace sextant::hub {
namespace {

TransformerConfig bloom(const ConfigObject& object, const ModelConfig& model) {
  refuse_flag(object, "apply_residual_connection_post_layernorm");
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 250880, true);
  c.ffn_width = 4 * c.width;
  c.activation = Activation::gelu_tanh;
  c.norm_epsilon = object.positive_or("layer_norm_epsilon", 1e-5);
  c.embedding_norm = true;
  return c;
}

TransformerConfig mpt(const ConfigObject& object, const ModelConfig& model) {
  if (model.layers.front().scheme != "alibi") {
    object.fail("attn_config", "must have alibi, as always in transformers");
  }
  if (!object.flag_or("no_bias", true)) object.fail("no_bias", "must be true");
  refuse_key(object, "logit_scale", "transformers' class does not read it");
  if (object.integer_or("expansion_ratio", 4) != 4) {
    object.fail("expansion_ratio", "must be 4, as always in transformers");
  }
  if (const auto attention = object.object("attn_config")) {
    refuse_key(*attention, "clip_qkv", "q, k and v are not clipped here");
    refuse_flag(*attention, "qk_ln");
    if (attention->text("attn_type").value_or("multihead_attention") != "multihead_attention") {
      attention->fail("attn_type", "must be multihead_attention");
    }
  }
  TransformerConfig c = shared_config(object, model);
  read_ends(object, c, 50368, true);
  c.ffn_width = 4 * c.width;
  c.activation = Activation::gelu;
  c.norm_epsilon = object.positive_or("layer_norm_epsilon", 1e-5);
  c.bias = false;
  return c;
}

Json write_bloom(const TransformerConfig& c) {
  return {{"architectures", class_in_hub(c, "Bloom")},
          {"hidden_size", c.width},
          {"n_layer", c.layers},
          {"n_head", c.heads},
          {"layer_norm_epsilon", c.norm_epsilon}};
}

Json write_mpt(const TransformerConfig& c) {
  return {{"architectures", class_in_hub(c, "Mpt")},
          {"d_model", c.width},
          {"n_layers", c.layers},
          {"n_heads", c.heads},
          {"max_seq_len", c.length},
          {"layer_norm_epsilon", c.norm_epsilon},
          {"attn_config", {{"alibi", true}, {"alibi_bias_max", alibi_max(c)}}}};
}

constexpr DecoderNames kBloomNames = {.embedding = "word_embeddings",
                                      .embedding_norm = "word_embeddings_layernorm",
                                      .layers = "h.",
                                      .final_norm = "ln_f",
                                      .qkv = "self_attention.query_key_value",
                                      .fused = Fused::groups,
                                      .out = "self_attention.dense",
                                      .up = "mlp.dense_h_to_4h",
                                      .down = "mlp.dense_4h_to_h",
                                      .norms = NormParts::gain_and_bias};

constexpr DecoderNames kMptNames = {.embedding = "wte",
                                    .layers = "blocks.",
                                    .final_norm = "norm_f",
                                    .qkv = "attn.Wqkv",
                                    .out = "attn.out_proj",
                                    .up = "ffn.up_proj",
                                    .down = "ffn.down_proj",
                                    .self_norm = "norm_1",
                                    .feed_forward_norm = "norm_2"};

}  // namespace

const Family kBloom = {
    "bloom", {"transformer.", kMasks}, bloom, add_decoder_of<kBloomNames>, write_bloom};
const Family kMpt = {"mpt", {"transformer.", kMasks}, mpt, add_decoder_of<kMptNames>, write_mpt};

}  // namespace sextant::hub
