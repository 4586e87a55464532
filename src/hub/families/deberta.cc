// Reads DeBERTa v2 and v3 (He et al. 2021, 2111.09543): BERT with content terms of distances
// instead of positions. All layers read one table of distances by their own maps; the products are
// computed here, so that each layer has its tables.
#include "hub/families.h"
#include "sextant/core/printable.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  if (!object.flag_or("relative_attention", false)) {
    object.fail("relative_attention", "must be true: others of the type are not read");
  }
  TransformerConfig c = shared_config(object, model);
  for (std::int64_t i = 1; i < c.layers; ++i) c.layer_schemes.push_back({{i}, c.schemes});
  c.vocabulary = object.integer_or("vocab_size", 128100);
  c.ffn_width = object.integer_or("intermediate_size", 6144);
  c.activation = activation_of(object, "hidden_act", "gelu");
  c.norm_epsilon = object.positive_or("layer_norm_eps", 1e-7);
  if (object.integer_or("type_vocab_size", 0, 0) > 0) {
    object.fail("type_vocab_size", "must be 0: there are no rows of positions to add types to");
  }
  if (object.integer_or("embedding_size", c.width) != c.width) {
    object.fail("embedding_size", "must be hidden_size: embeddings are not projected here");
  }
  if (object.integer("conv_kernel_size", 0).value_or(0) > 0) {
    object.fail("conv_kernel_size", "must be 0: no convolution is read");
  }
  if (object.has("attention_head_size")) {
    object.fail("attention_head_size", "must be absent: it is hidden_size / heads");
  }
  read_encoder(object, c, is_class(object, {"DebertaV2ForMaskedLM"}));
  return c;
}

constexpr DecoderNames kLayers = {.layers = "encoder.layer.",
                                  .q = "attention.self.query_proj",
                                  .k = "attention.self.key_proj",
                                  .v = "attention.self.value_proj",
                                  .out = "attention.output.dense",
                                  .up = "intermediate.dense",
                                  .down = "output.dense",
                                  .self_norm = "attention.output.LayerNorm",
                                  .feed_forward_norm = "output.LayerNorm",
                                  .norms = NormParts::gain_and_bias};

// "layer_norm", or names with a bar between them.
bool norms_distances(const ConfigObject& object) {
  const std::string kind = object.text("norm_rel_ebd").value_or("none");
  if (kind != "none" && kind != "layer_norm") {
    object.fail("norm_rel_ebd", "must be none or layer_norm, got " + printable_quote(kind));
  }
  return kind == "layer_norm";
}

void add_distances(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  const auto& of = c.schemes.front().parameters;
  const std::int64_t buckets = std::stoll(of.at("position_buckets"));
  const std::int64_t rows = 2 * (buckets > 0 ? buckets : std::stoll(of.at("max_position")));
  const bool shared = object.flag_or("share_att_key", false);
  for (std::int64_t i = 0; i < c.layers; ++i) {
    const std::string to = i == 0 ? "positions." : "positions." + std::to_string(i) + ".deberta.";
    const std::string from = "encoder.layer." + std::to_string(i) + ".attention.self.";
    ProjectedRows of_queries{.rows = "encoder.rel_embeddings.weight",
                             .count = rows,
                             .norm = norms_distances(object) ? "encoder.LayerNorm" : "",
                             .epsilon = c.norm_epsilon,
                             .map = from + (shared ? "query_proj" : "pos_query_proj"),
                             .width = c.width,
                             .heads = c.heads};
    ProjectedRows of_keys = of_queries;
    of_keys.map = from + (shared ? "key_proj" : "pos_key_proj");
    table.project(to + "query_table", of_queries);
    table.project(to + "key_table", of_keys);
  }
}

void add_weights(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  constexpr std::string_view kEmbedding = "embeddings.word_embeddings.weight";
  table.matrix("embedding.weight", kEmbedding, c.vocabulary, c.width);
  table.norm("stack.embedding_norm", "embeddings.LayerNorm", c.width, c.norm, kLayers.norms);
  add_layers(c, kLayers, table);
  add_distances(object, c, table);
  if (!c.logits) return;
  const bool legacy = object.flag_or("legacy", true);
  const std::string head = legacy ? "cls.predictions.transform." : "lm_predictions.lm_head.";
  table.linear("output.transform.dense", {{head + "dense", c.width}}, c.width, true);
  table.norm("output.transform.norm", head + "LayerNorm", c.width, c.norm, kLayers.norms);
  table.head("cls.predictions.decoder.weight", kEmbedding, c,
             legacy ? "cls.predictions.bias" : "lm_predictions.lm_head.bias");
}

// Heads of other classes and of pre-training; v3's additional table, which is not added.
constexpr std::string_view kSkipped[] = {"embeddings.position_ids",
                                         "embeddings.position_embeddings.weight",
                                         "pooler.",
                                         "cls.",
                                         "lm_predictions.",
                                         "mask_predictions."};

}  // namespace

const Family kDebertaV2 = {"deberta-v2", {"deberta.", kSkipped}, read_config, add_weights};

}  // namespace sextant::hub
