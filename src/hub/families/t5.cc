// T5 (Raffel et al. 2019, 1910.10683), FLAN-T5 and mT5: a bias for each bucket of distances, the
// same in all layers of a stack, scores that are not scaled, and maps without biases.
#include <cmath>

#include "hub/families.h"
#include "sextant/core/printable.h"

namespace sextant::hub {
namespace {

// "relu", or a gate: "gated-gelu" is that of the approximation by tanh.
Activation activation_of_t5(const ConfigObject& object, std::string_view by_default) {
  const std::string given = object.text("feed_forward_proj").value_or(std::string(by_default));
  if (given == "relu") return Activation::relu;
  if (given == "gelu") return Activation::gelu;
  if (given == "gelu_new") return Activation::gelu_tanh;
  if (given == "silu") return Activation::silu;
  if (given == "gated-gelu" || given == "gated-gelu_new") return Activation::geglu_tanh;
  if (given == "gated-silu") return Activation::swiglu;
  object.fail("feed_forward_proj",
              "must be relu, gelu, gelu_new, silu, gated-gelu or gated-silu, got " +
                  printable_quote(given));
}

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model,
                              std::int64_t vocabulary, std::int64_t ffn_width,
                              std::string_view activation) {
  TransformerConfig c =
      translator_config(object, model, object.integer_or("pad_token_id", 0, 0), 1);
  c.vocabulary = object.integer_or("vocab_size", vocabulary);
  c.ffn_width = object.integer_or("d_ff", ffn_width);
  c.activation = activation_of_t5(object, activation);
  c.norm = NormKind::rms;
  c.norm_epsilon = object.positive_or("layer_norm_epsilon", 1e-6);
  c.bias = false;
  return c;
}

// The first T5 scales the input of its logits; files of FLAN-T5 and T5 1.1 say that theirs are not
// tied, whether they are or not.
TransformerConfig t5(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 32128, 2048, "relu");
  const bool tied = object.flag_or("tie_word_embeddings", true);
  if (object.flag_or("scale_decoder_outputs", tied)) {
    c.logits_scale = 1 / std::sqrt(static_cast<double>(c.width));
  }
  return c;
}

TransformerConfig mt5(const ConfigObject& object, const ModelConfig& model) {
  object.flag("tie_word_embeddings");
  return read_config(object, model, 250112, 1024, "gated-gelu");
}

void read_head(const WeightTable& table, TransformerConfig& config) {
  config.tied = !table.has("lm_head.weight");
}

constexpr DecoderNames names_of(bool decoder) {
  return {.embedding = decoder ? "decoder.embed_tokens" : "encoder.embed_tokens",
          .layers = decoder ? "decoder.block." : "encoder.block.",
          .final_norm = decoder ? "decoder.final_layer_norm" : "encoder.final_layer_norm",
          .q = "layer.0.SelfAttention.q",
          .k = "layer.0.SelfAttention.k",
          .v = "layer.0.SelfAttention.v",
          .out = "layer.0.SelfAttention.o",
          .gate = decoder ? "layer.2.DenseReluDense.wi_0" : "layer.1.DenseReluDense.wi_0",
          .up = decoder ? "layer.2.DenseReluDense.wi_1" : "layer.1.DenseReluDense.wi_1",
          .down = decoder ? "layer.2.DenseReluDense.wo" : "layer.1.DenseReluDense.wo",
          .self_norm = "layer.0.layer_norm",
          .feed_forward_norm = decoder ? "layer.2.layer_norm" : "layer.1.layer_norm",
          .cross_q = "layer.1.EncDecAttention.q",
          .cross_k = "layer.1.EncDecAttention.k",
          .cross_v = "layer.1.EncDecAttention.v",
          .cross_out = "layer.1.EncDecAttention.o",
          .cross_norm = "layer.1.layer_norm"};
}

void add_weights(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  const std::int64_t buckets = object.integer_or("relative_attention_num_buckets", 32);
  for (const std::string stack : {"encoder", "decoder"}) {
    table.matrix(stack + "_positions.table",
                 stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", buckets,
                 c.heads);
  }
  DecoderNames encoder = names_of(false), decoder = names_of(true);
  if (!is_gated(c.activation)) {
    encoder.up = "layer.1.DenseReluDense.wi";
    decoder.up = "layer.2.DenseReluDense.wi";
  }
  add_translator(c, encoder, decoder, "shared.weight", table);
}

// Tensors of the first T5, whose cross attention has no such biases.
constexpr std::string_view kSkipped[] = {"EncDecAttention.relative_attention_bias.weight"};

}  // namespace

const Family kT5 = {"t5", {"transformer.", kSkipped}, t5, add_weights, nullptr, read_head};
const Family kMt5 = {"mt5", {"transformer.", kSkipped}, mt5, add_weights, nullptr, read_head};

}  // namespace sextant::hub
