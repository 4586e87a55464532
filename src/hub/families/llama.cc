// Reads Llama (Touvron et al. 2023) and models with its architecture: Mistral, Qwen 2 with biases
// of q, k and v, Qwen 3 with norms of q and k, SmolLM 3, Granite with factors.
#include "hub/families.h"
#include "hub/written_keys.h"

namespace sextant::hub {
namespace {

TransformerConfig read_config(const ConfigObject& object, const ModelConfig& model,
                              std::int64_t vocabulary, std::int64_t ffn_width, bool tied = false) {
  TransformerConfig config = shared_config(object, model);
  read_ends(object, config, vocabulary, tied);
  config.ffn_width = object.integer_or("intermediate_size", ffn_width);
  config.activation = gate_of(object, "hidden_act", "silu");
  config.norm = NormKind::rms;
  config.norm_epsilon = object.positive_or("rms_norm_eps", 1e-6);
  config.bias = false;
  return config;
}

// Reads the biases of q, k, v and the result, and of feed-forward layers.
void read_biases(const ConfigObject& object, TransformerConfig& config) {
  config.qkv_bias = config.out_bias = object.flag_or("attention_bias", false);
  config.ffn_bias = object.flag_or("mlp_bias", false);
}

TransformerConfig llama(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 32000, 11008);
  read_biases(object, c);
  return c;
}

TransformerConfig mistral(const ConfigObject& object, const ModelConfig& model) {
  return read_config(object, model, 32000, 14336);
}

TransformerConfig qwen2(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 151936, 22016);
  c.qkv_bias = true;
  return c;
}

TransformerConfig qwen3(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 151936, 22016);
  c.qkv_bias = c.out_bias = object.flag_or("attention_bias", false);
  c.qk_norm = QkNorm::head;
  return c;
}

TransformerConfig smollm3(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 128256, 11008, true);
  read_biases(object, c);
  return c;
}

TransformerConfig granite(const ConfigObject& object, const ModelConfig& model) {
  TransformerConfig c = read_config(object, model, 32000, 11008);
  read_biases(object, c);
  c.embedding_scale = object.positive_or("embedding_multiplier", 1);
  c.logits_scale = 1 / object.positive_or("logits_scaling", 1);
  return c;
}

void add_granite(const ConfigObject& object, const TransformerConfig& c, WeightTable& table) {
  add_decoder(c, {.residual = object.positive_or("residual_multiplier", 1)}, table);
}

Json write(const TransformerConfig& c, std::string_view name) {
  Json json = sizes_in_hub(c);
  json["architectures"] = class_in_hub(c, name);
  json["num_key_value_heads"] = c.kv_heads;
  json["head_dim"] = c.head_dim;
  json["hidden_act"] = name_in_hub(c.activation);
  json["rms_norm_eps"] = c.norm_epsilon;
  write_rope(c, json);
  return json;
}

Json write_llama(const TransformerConfig& c) {
  Json json = write(c, "Llama");
  json["attention_bias"] = c.bias || (c.qkv_bias && c.out_bias);
  json["mlp_bias"] = c.bias || c.ffn_bias;
  return json;
}

Json write_mistral(const TransformerConfig& c) {
  Json json = write(c, "Mistral");
  json["sliding_window"] = nullptr;  // where it is absent there is one
  write_window(c, json);
  return json;
}

Json write_qwen2(const TransformerConfig& c) { return write(c, "Qwen2"); }

Json write_qwen3(const TransformerConfig& c) {
  Json json = write(c, "Qwen3");
  json["attention_bias"] = c.qkv_bias;
  return json;
}

}  // namespace

const Family kLlama = {"llama", kModelRules, llama, add_decoder_of<kLlamaNames>, write_llama};
const Family kMistral = {"mistral", kModelRules, mistral, add_decoder_of<kLlamaNames>,
                         write_mistral};
const Family kQwen2 = {"qwen2", kModelRules, qwen2, add_decoder_of<kLlamaNames>, write_qwen2};
const Family kQwen3 = {"qwen3", kModelRules, qwen3, add_decoder_of<kLlamaNames>, write_qwen3};
const Family kSmollm3 = {"smollm3", kModelRules, smollm3, add_decoder_of<kLlamaNames>};
const Family kGranite = {"granite", kModelRules, granite, add_granite};

}  // namespace sextant::hub
