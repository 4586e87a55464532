// BART (Lewis et al. 2019, 1910.13461), an encoder and a decoder with norms after the blocks, and
// Marian (Junczys-Dowmunt et al. 2018), which has sines for positions and no norm of the embedding.
// mBART (Liu et al. 2020, 2001.08210) and Pegasus (Zhang et al. 2019, 1912.08777) are these with
// norms before the blocks.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model,
                              std::int64_t vocabulary, std::int64_t start, std::int64_t end) {
  TransformerConfig c = translator_config(object, model, start, end);
  c.vocabulary = object.integer_or("vocab_size", vocabulary);
  if (!object.flag_or("tie_word_embeddings", true)) {
    object.fail("tie_word_embeddings", "must be true: all share one embedding here");
  }
  c.ffn_width = object.integer_or("encoder_ffn_dim", 4096);
  if (object.integer_or("decoder_ffn_dim", 4096) != c.ffn_width) {
    object.fail("decoder_ffn_dim", "must be encoder_ffn_dim, " + std::to_string(c.ffn_width));
  }
  c.activation = activation_of(object, "activation_function", "gelu");
  c.embedding_scale = object.flag_or("scale_embedding", false) ? 0 : 1;  // 0: the root of the width
  c.pre_norm = false;
  c.final_norm = false;
  c.logits_bias = true;
  return c;
}

TransformerConfig bart(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 50265, 2, 2);
  c.embedding_norm = true;
  return c;
}

TransformerConfig mbart(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = bart(object, model);
  c.pre_norm = c.final_norm = true;
  return c;
}

TransformerConfig pegasus(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 50265, 0, 1);
  c.pre_norm = c.final_norm = true;
  return c;
}

TransformerConfig marian(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 58101, 58100, 0);
  if (!object.flag_or("share_encoder_decoder_embeddings", true) ||
      object.integer("decoder_vocab_size").value_or(c.vocabulary) != c.vocabulary) {
    object.fail("share_encoder_decoder_embeddings",
                "must be true, with one vocab_size: source and target share an embedding here");
  }
  return c;
}

constexpr DecoderNames names_of(bool decoder) {
  return {.embedding = decoder ? "decoder.embed_tokens" : "encoder.embed_tokens",
          .embedding_norm = decoder ? "decoder.layernorm_embedding" : "encoder.layernorm_embedding",
          .layers = decoder ? "decoder.layers." : "encoder.layers.",
          .final_norm = decoder ? "decoder.layer_norm" : "encoder.layer_norm",
          .out = "self_attn.out_proj",
          .up = "fc1",
          .down = "fc2",
          .self_norm = "self_attn_layer_norm",
          .feed_forward_norm = "final_layer_norm",
          .cross_q = "encoder_attn.q_proj",
          .cross_k = "encoder_attn.k_proj",
          .cross_v = "encoder_attn.v_proj",
          .cross_out = "encoder_attn.out_proj",
          .cross_norm = "encoder_attn_layer_norm",
          .norms = NormParts::gain_and_bias};
}

void add_bart(const ConfigObject& /*object*/, const TransformerConfig& c, WeightTable& table) {
  DecoderNames encoder = names_of(false), decoder = names_of(true);
  encoder.positions = "encoder.embed_positions";
  decoder.positions = "decoder.embed_positions";
  encoder.first_position = decoder.first_position = 2;
  add_translator(c, encoder, decoder, "shared.weight", table);
}

void add_marian(const ConfigObject& /*object*/, const TransformerConfig& c, WeightTable& table) {
  add_translator(c, names_of(false), names_of(true), "shared.weight", table);
}

// The sines, which are the same in all files.
constexpr std::string_view kSines[] = {"embed_positions.weight"};

}  // namespace

const Family kBart = {"bart", {"model.", {}}, bart, add_bart};
const Family kMbart = {"mbart", {"model.", {}}, mbart, add_bart};
const Family kPegasus = {"pegasus", {"model.", kSines}, pegasus, add_marian};
const Family kMarian = {"marian", {"model.", kSines}, marian, add_marian};

}  // namespace sextant::hub
