// What cannot be read as it is meant is refused by its name, before memory is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "hub/golden_model.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void expect_refused(const std::string& folder, const std::string& a, const std::string& b = "") {
  EXPECT_THAT([&] { load_pretrained(folder); },
              ThrowsMessage<Error>(AllOf(HasSubstr(a), HasSubstr(b))));
}

TEST(PretrainedConfig, RefusesWhatModelsHereDoNotHave) {
  struct Case {
    const char* model;
    const char* key;
    const char* value;
    const char* said = nullptr;  // instead of the key
  };
  for (const auto& [name, key, value, said] : std::vector<Case>{
           {"gpt2", "scale_attn_weights", "1"},
           {"gpt2", "add_cross_attention", "true"},
           {"gpt2", "is_encoder_decoder", "true"},
           {"gpt2", "quantization_config", R"({"bits": 4})"},
           {"gpt2", "activation_function", R"("quick_gelu")"},
           {"gpt2", "layer_norm_epsilon", "1", "transformer.norm_epsilon"},
           {"gpt2", "model_type", R"("gpt_bigcode")", "must be bart, bert, bloom"},
           {"llama", "model_type", R"("mixtral")", "mixtures of experts"},
           {"llama", "model_type", R"("deepseek_v3")", "latent attention"},
           {"llama", "model_type", R"("gpt_oss")", "mixtures of experts"},
           {"bert", "model_type", R"("umt5")", "biases of positions"},
           {"llama", "hidden_act", R"("relu")"},
           {"llama", "rope_parameters", R"({"rope_type": "new", "rope_theta": 1})", "rope_type"},
           {"gemma", "hidden_activation", R"("gelu")"},
           {"gemma2", "hidden_activation", R"("relu")"},
           {"gemma2", "final_logit_softcapping", "-1"},
           {"gemma3", "use_bidirectional_attention", "true"},
           {"qwen3", "head_dim", "5", "even number of channels"},
           {"cohere", "use_qk_norm", "true"},
           {"cohere", "logit_scale", "0"},
           {"granite", "logits_scaling", "0"},
           {"granite", "residual_multiplier", "null"},
           {"stablelm", "qk_layernorm", "true"},
           {"olmo", "clip_qkv", "8"},
           {"opt", "word_embed_proj_dim", "8"},
           {"bloom", "apply_residual_connection_post_layernorm", "true"},
           {"modernbert", "classifier_activation", R"("relu")"},
           {"modernbert", "hidden_activation", R"("tanh")"},
           {"mpt", "no_bias", "false"},
           {"mpt", "logit_scale", "0.5"},
           {"mpt", "expansion_ratio", "2"},
           {"mpt", "attn_config", R"({"alibi": false})"},
           {"mpt", "attn_config", R"({"qk_ln": true})", "qk_ln"},
           {"mpt", "attn_config", R"({"clip_qkv": 6})", "clip_qkv"},
           {"falcon_new", "parallel_attn", "false", nullptr},
           {"codegen", "n_head", "2"},
           {"roberta", "hidden_act", R"("relu")"},
           {"bert", "position_embedding_type", R"("relative_key")"},
           {"bert", "pruned_heads", R"({"0": [1]})"},
           {"bert", "hidden_act", R"("gelu_10")"},
           {"bert", "type_vocab_size", "0"},
           {"deberta_v2", "model_type", R"("deberta")", "one map of all heads"},
           {"deberta_v2", "relative_attention", "false"},
           {"deberta_v2", "type_vocab_size", "2"},
           {"deberta_v2", "embedding_size", "8"},
           {"deberta_v2", "conv_kernel_size", "3"},
           {"deberta_v2", "attention_head_size", "4"},
           {"deberta_v2", "norm_rel_ebd", R"("rms_norm")"},
           {"deberta_v2", "pos_att_type", R"("c2p")"},
       }) {
    ChangedModel model(name);
    model.config[key] = Json::parse(value);
    if (std::string(key) == "parallel_attn") model.config["num_ln_in_parallel_attn"] = 1;
    SCOPED_TRACE(std::string(name) + " " + key);
    expect_refused(model.write(), "config.json", said == nullptr ? key : said);
  }
}

// As the hub has them, old spellings among them: what is missing then is the weights.
TEST(PretrainedConfig, OfPublishedModelsIsRead) {
  for (const char* name : {"bert", "bloom", "command_r7b", "gpt2", "gpt_neox", "gptj", "llama2",
                           "llama3_1", "llama3_2_1b", "modernbert", "mpt", "opt", "phi3_128k",
                           "qwen2_5_yarn", "roberta", "smollm3"}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    write_file(folder / "config.json",
               read_file(tests::data_folder() + "/interop/config/configs/" + name + ".json"));
    save_safetensors(folder / "model.safetensors", std::map<std::string, Array>());
    expect_refused(folder / "", "must hold the tensor");
  }
}

TEST(PretrainedConfig, OfHugeSizesTakesNoMemory) {
  for (const auto& [name, key] :
       std::vector<std::pair<const char*, const char*>>{{"gpt2", "vocab_size"},
                                                        {"gpt2", "n_positions"},
                                                        {"gpt2", "n_embd"},
                                                        {"gpt2", "n_layer"},
                                                        {"gpt2", "n_inner"},
                                                        {"llama", "num_attention_heads"},
                                                        {"llama", "intermediate_size"},
                                                        {"llama", "head_dim"},
                                                        {"bert", "type_vocab_size"},
                                                        {"roberta", "pad_token_id"},
                                                        {"gpt_neox", "num_attention_heads"},
                                                        {"falcon_new", "num_kv_heads"},
                                                        {"falcon_new", "ffn_hidden_size"},
                                                        {"gemma3", "head_dim"},
                                                        {"gemma3", "num_hidden_layers"},
                                                        {"codegen", "n_embd"},
                                                        {"opt", "ffn_dim"},
                                                        {"bert", "max_position_embeddings"}}) {
    for (const std::int64_t value :
         {std::int64_t{1000}, std::int64_t{1} << 24, std::int64_t{1} << 53}) {
      ChangedModel model(name);
      model.config[key] = value;
      SCOPED_TRACE(std::string(name) + " " + key + " " + std::to_string(value));
      EXPECT_THROW(load_pretrained(model.write()), Error);
    }
  }
}

TEST(PretrainedWeights, AreRefusedByName) {
  ChangedModel missing("llama");
  missing.tensors.erase("model.layers.1.mlp.up_proj.weight");
  expect_refused(missing.write(), "must hold the tensor", "layers.1.mlp.up_proj.weight");

  // One of each way that files divide a layer.
  for (const auto& [model, name] : std::vector<std::pair<const char*, const char*>>{
           {"qwen3", "model.layers.1.self_attn.k_norm.weight"},
           {"gemma2", "model.layers.0.post_feedforward_layernorm.weight"},
           {"phi3", "model.layers.0.mlp.gate_up_proj.weight"},
           {"phi", "lm_head.bias"},
           {"gpt_neox", "gpt_neox.layers.1.post_attention_layernorm.bias"},
           {"falcon_new", "transformer.h.1.ln_mlp.weight"},
           {"olmo2", "model.layers.0.self_attn.q_norm.weight"},
           {"opt", "model.decoder.layers.1.fc1.bias"},
           {"bloom", "transformer.word_embeddings_layernorm.weight"},
           {"bert_masked", "cls.predictions.transform.dense.weight"},
           {"roberta", "lm_head.bias"},
           {"modernbert", "decoder.bias"},
           {"distilbert", "vocab_layer_norm.bias"}}) {
    SCOPED_TRACE(name);
    ChangedModel without(model), other(model);
    without.tensors.erase(name);
    std::string known(name);
    known.erase(0, known.find_first_of('.') + 1);
    expect_refused(without.write(), "must hold the tensor", known);
    other.tensors[name] = zeros({3, 5});
    expect_refused(other.write(), std::string("must hold ") + name + " of shape", "got [3, 5]");
  }

  ChangedModel unknown("llama");
  unknown.tensors["model.layers.0.self_attn.q_norm.weight"] = zeros({6});
  expect_refused(unknown.write(), "must hold only tensors that a model of this config.json has",
                 "got model.layers.0.self_attn.q_norm.weight");

  ChangedModel more("gpt2");
  more.config["n_layer"] = 1;
  expect_refused(more.write(), "must hold only tensors", "transformer.h.1.");

  ChangedModel shape("gpt2");
  shape.tensors["transformer.h.1.mlp.c_fc.weight"] = zeros({64, 16});
  expect_refused(shape.write(), "must hold transformer.h.1.mlp.c_fc.weight of shape [16, 64]",
                 "got [64, 16]");

  ChangedModel integers("bert");
  integers.tensors["embeddings.LayerNorm.bias"] = {DType::int32, {16}, Tensor<std::byte>({64})};
  expect_refused(integers.write(),
                 "must hold floating-point numbers for embeddings.LayerNorm.bias");
}

TEST(PretrainedWeights, AreFinite) {
  for (const char* name :
       {"embeddings.token_type_embeddings.weight", "encoder.layer.1.attention.self.value.weight"}) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      ChangedModel bert("bert");
      std::memcpy(bert.tensors.at(name).bytes.data() + 8, &bad, sizeof bad);
      expect_refused(bert.write(), "must hold finite numbers, got others in", name);
    }
  }
}

TEST(PretrainedFolder, HasConfigAndSafetensors) {
  const TemporaryFolder empty;
  expect_refused(empty / "", "must be a Hugging Face model's folder, with config.json");

  ChangedModel gpt2("gpt2");
  const std::string folder = gpt2.write();
  std::filesystem::remove(gpt2.path("model.safetensors"));
  expect_refused(folder, "must have model.safetensors");
  write_file(gpt2.path("pytorch_model.bin"), "\x80\x02");
  expect_refused(folder, "pytorch_model.bin] must be model.safetensors", "save_pretrained(folder)");
  gpt2.write();
  EXPECT_NO_THROW(load_pretrained(folder));

  write_file(gpt2.path("config.json"), R"({"kind": "causal"})");
  expect_refused(folder, "got one of this library");
  write_file(gpt2.path("config.json"), R"({"n_embd": 16})");
  expect_refused(folder, "model_type");
  write_file(gpt2.path("config.json"), "{");
  expect_refused(folder, "must be valid JSON");
}

}  // namespace
}  // namespace sextant
