// BERT (Devlin et al. 2018) and MiniLM: learned positions, a norm of the embedding, norms after the
// blocks. The row of tokens of type 0 is part of the table of positions here, and rows of other
// types are kept less that one. RoBERTa (Liu et al. 2019), XLM-R and CamemBERT count positions from
// the row after padding's.
#include "hub/families.h"
#include "hub/written_keys.h"
#include "sextant/core/printable.h"

namespace sextant::hub {
namespace {

// transformers' classes that compute logits from the hidden states.
bool has_head(const ConfigObject& object) {
  return is_class(object,
                  {"BertForMaskedLM", "BertForPreTraining", "BertLMHeadModel", "RobertaForMaskedLM",
                   "RobertaForCausalLM", "XLMRobertaForMaskedLM", "XLMRobertaForCausalLM",
                   "CamembertForMaskedLM", "CamembertForCausalLM"});
}

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model) {
  if (model.layers.front().scheme != "learned") {
    object.fail("position_embedding_type",
                "must be absolute to load the weights, got " +
                    printable_quote(*object.text("position_embedding_type")));
  }
  TransformerConfig config = shared_config(object, model);
  config.vocabulary = object.integer_or("vocab_size", 30522);
  config.ffn_width = object.integer_or("intermediate_size", 3072);
  config.activation = activation_of(object, "hidden_act", "gelu");
  config.norm_epsilon = object.positive_or("layer_norm_eps", 1e-12);
  config.token_types = object.integer_or("type_vocab_size", 2);
  read_encoder(object, config, has_head(object));
  return config;
}

TransformerConfig roberta(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig config = read_config(object, model);
  const bool is_roberta = object.text("model_type") == "roberta";
  config.vocabulary = object.integer_or("vocab_size", is_roberta ? 50265 : 30522);
  if (config.logits && config.activation != Activation::gelu) {
    object.fail("hidden_act", "must be gelu, the activation of the head, if the model has one");
  }
  return config;
}

Json write(const TransformerConfig& c) {
  Json json = sizes_in_hub(c);
  json["architectures"] = Json::array({!c.logits                     ? "BertModel"
                                       : c.kind == ModelKind::masked ? "BertForMaskedLM"
                                                                     : "BertLMHeadModel"});
  json["hidden_act"] = name_in_hub(c.activation);
  json["layer_norm_eps"] = c.norm_epsilon;
  json["is_decoder"] = c.kind == ModelKind::causal;
  if (c.token_types > 1) json["type_vocab_size"] = c.token_types;
  return json;
}

constexpr DecoderNames kLayers = {.layers = "encoder.layer.",
                                  .q = "attention.self.query",
                                  .k = "attention.self.key",
                                  .v = "attention.self.value",
                                  .out = "attention.output.dense",
                                  .up = "intermediate.dense",
                                  .down = "output.dense",
                                  .self_norm = "attention.output.LayerNorm",
                                  .feed_forward_norm = "output.LayerNorm",
                                  .norms = NormParts::gain_and_bias};

constexpr std::string_view kEmbedding = "embeddings.word_embeddings.weight";
constexpr std::string_view kTypes = "embeddings.token_type_embeddings.weight";

void add_stack(const ConfigObject& object, const TransformerConfig& c, std::int64_t first_position,
               WeightTable& table) {
  table.matrix("embedding.weight", kEmbedding, c.vocabulary, c.width);
  table.take_rows("positions.table", "embeddings.position_embeddings.weight",
                  {first_position + c.length, c.width}, {{first_position, c.length}});
  const std::int64_t types = object.integer_or("type_vocab_size", 2);
  table.add_first_row(kTypes, types, c.width);
  if (c.token_types > 1) {
    table.take_rows("type_rows", kTypes, {types, c.width}, {{1, types - 1}});
    table.add_first_row(kTypes, types, c.width, -1);
  }
  table.norm("stack.embedding_norm", "embeddings.LayerNorm", c.width, c.norm, kLayers.norms);
  add_layers(c, kLayers, table);
}

void add_bert(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  add_stack(object, c, 0, table);
  if (!c.logits) return;
  table.linear("output.transform.dense", {{"cls.predictions.transform.dense", c.width}}, c.width,
               true);
  table.norm("output.transform.norm", "cls.predictions.transform.LayerNorm", c.width, c.norm,
             kLayers.norms);
  table.head("cls.predictions.decoder.weight", kEmbedding, c, "cls.predictions.bias");
}

void add_roberta(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  add_stack(object, c, object.integer_or("pad_token_id", 1, 0) + 1, table);
  if (!c.logits) return;
  table.linear("output.transform.dense", {{"lm_head.dense", c.width}}, c.width, true);
  table.norm("output.transform.norm", "lm_head.layer_norm", c.width, c.norm, kLayers.norms);
  table.head("lm_head.decoder.weight", kEmbedding, c, "lm_head.bias");
}

// The pooler and the heads of pre-training take hidden states to something else; the bias of a
// decoder is stored twice.
constexpr std::string_view kSkipped[] = {"embeddings.position_ids", "pooler.", "cls.", "lm_head."};

}  // namespace

const Family kBert = {"bert", {"bert.", kSkipped}, read_config, add_bert, write};
const Family kRoberta = {"roberta", {"roberta.", kSkipped}, roberta, add_roberta};
const Family kXlmRoberta = {"xlm-roberta", {"roberta.", kSkipped}, roberta, add_roberta};
const Family kCamembert = {"camembert", {"roberta.", kSkipped}, roberta, add_roberta};

}  // namespace sextant::hub
