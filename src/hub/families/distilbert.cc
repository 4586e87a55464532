// DistilBERT (Sanh et al. 2019, 1910.01108): BERT without types of tokens.
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = shared_config(object, model);
  c.vocabulary = object.integer_or("vocab_size", 30522);
  c.ffn_width = object.integer_or("hidden_dim", 3072);
  c.activation = activation_of(object, "activation", "gelu");
  c.norm_epsilon = 1e-12;  // of the class: no key gives it
  read_encoder(object, c, is_class(object, {"DistilBertForMaskedLM"}));
  return c;
}

constexpr DecoderNames kLayers = {.layers = "transformer.layer.",
                                  .q = "attention.q_lin",
                                  .k = "attention.k_lin",
                                  .v = "attention.v_lin",
                                  .out = "attention.out_lin",
                                  .up = "ffn.lin1",
                                  .down = "ffn.lin2",
                                  .self_norm = "sa_layer_norm",
                                  .feed_forward_norm = "output_layer_norm",
                                  .norms = NormParts::gain_and_bias};

void add_weights(const ConfigObject& /*object*/, const TransformerConfig& c, WeightTable& table) {
  constexpr std::string_view kEmbedding = "embeddings.word_embeddings.weight";
  table.matrix("embedding.weight", kEmbedding, c.vocabulary, c.width);
  table.matrix("positions.table", "embeddings.position_embeddings.weight", c.length, c.width);
  table.norm("stack.embedding_norm", "embeddings.LayerNorm", c.width, c.norm, kLayers.norms);
  add_layers(c, kLayers, table);
  if (!c.logits) return;
  table.linear("output.transform.dense", {{"vocab_transform", c.width}}, c.width, true);
  table.norm("output.transform.norm", "vocab_layer_norm", c.width, c.norm, kLayers.norms);
  table.head("vocab_projector.weight", kEmbedding, c, "vocab_projector.bias");
}

// The head, where the class of the model has none.
constexpr std::string_view kSkipped[] = {"vocab_transform.", "vocab_layer_norm.",
                                         "vocab_projector."};

}  // namespace

const Family kDistilbert = {"distilbert", {"distilbert.", kSkipped}, read_config, add_weights};

}  // namespace sextant::hub
