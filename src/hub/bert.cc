// BERT (Devlin et al. 2018) and MiniLM: learned positions, a norm of the embedding, norms after the
// blocks. All tokens are of type 0, whose row is part of the table of positions here.
#include "core/text/quoted_text.h"
#include "hub/families.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  if (model.layers.front().scheme != "learned") {
    object.fail("position_embedding_type",
                "must be absolute for the weights to be read, got " +
                    quoted_text(*object.text("position_embedding_type")));
  }
  TransformerConfig config = shared_config(object, model);
  config.vocabulary = object.integer_or("vocab_size", 30522);
  config.ffn_width = object.integer_or("intermediate_size", 3072);
  config.activation = activation_of(object, "hidden_act", "gelu");
  config.norm_epsilon = object.positive_or("layer_norm_eps", 1e-12);
  config.pre_norm = false;
  config.final_norm = false;
  config.embedding_norm = true;
  config.logits = false;
  return config;
}

void add_weights(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  table.matrix("embedding.weight", "embeddings.word_embeddings.weight", c.vocabulary, c.width);
  table.matrix("positions.table", "embeddings.position_embeddings.weight", c.length, c.width);
  table.add_first_row("embeddings.token_type_embeddings.weight",
                      object.integer_or("type_vocab_size", 2), c.width);
  table.norm("stack.embedding_norm", "embeddings.LayerNorm", c.width, true);
  for (std::int64_t i = 0; i < c.layers; ++i) {
    table.enter("stack." + std::to_string(i) + ".", "encoder.layer." + std::to_string(i) + ".");
    table.linear("self.in",
                 {{"attention.self.query", c.width},
                  {"attention.self.key", c.width},
                  {"attention.self.value", c.width}},
                 c.width, true);
    table.linear("self.out", {{"attention.output.dense", c.width}}, c.width, true);
    table.norm("self_norm", "attention.output.LayerNorm", c.width, true);
    table.linear("feed_forward.in", {{"intermediate.dense", c.ffn_width}}, c.width, true);
    table.linear("feed_forward.out", {{"output.dense", c.width}}, c.ffn_width, true);
    table.norm("feed_forward_norm", "output.LayerNorm", c.width, true);
  }
}

// The pooler and the heads of pre-training take hidden states to something else.
constexpr std::string_view kSkipped[] = {"embeddings.position_ids", "pooler.", "cls."};

}  // namespace

const Family kBert = {"bert", {"bert.", kSkipped}, read_config, add_weights};

}  // namespace sextant::hub
