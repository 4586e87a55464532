// Configurations of real models, in files of our own under configs/, and every way to mislead.
#include "sextant/interop/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "support/folders.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

ModelConfig load(const std::string& name) {
  return load_model_config(sextant::tests::data_folder() + "/interop/config/configs/" + name +
                           ".json");
}

// A Llama of one layer of two heads of 8 channels, with more keys.
std::string llama(const std::string& more) {
  return R"({"model_type":"llama","hidden_size":16,"num_hidden_layers":1,)"
         R"("num_attention_heads":2,"max_position_embeddings":64)" +
         (more.empty() ? "" : "," + more) + "}";
}
// The same of a model type that rotates a part of each head.
std::string phi(const std::string& more) {
  return R"({"model_type":"phi","hidden_size":16,"num_hidden_layers":1,"num_attention_heads":2,)" +
         more + "}";
}
std::string scaled(const std::string& inside) { return llama("\"rope_scaling\":{" + inside + "}"); }

void expect_refused(const std::string& json, const std::string& message) {
  EXPECT_THAT([&] { parse_model_config(json, "c"); }, ThrowsMessage<Error>("[c] " + message));
}
void expect_refusal_with(const std::string& json, const std::string& part) {
  EXPECT_THAT([&] { parse_model_config(json, "c"); }, ThrowsMessage<Error>(HasSubstr(part)));
}

const std::map<std::string, std::string>& parameters_of(const ModelConfig& config,
                                                        std::int64_t layer = 0) {
  return layer_positions(config, layer).parameters;
}

TEST(ModelConfig, MakesTheTablesOfEveryConfigThatWeKeep) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(sextant::tests::data_folder() +
                                                              "/interop/config/configs")) {
    const ModelConfig config = load_model_config(file.path());
    ++count;
    for (const LayerPositions& layer : config.layers) {
      const std::vector<std::int64_t> ids = {0, 7};
      const Scheme& scheme = find_scheme(layer.scheme);
      SchemeRequest request = layer.request(ids);
      SchemeWeights weights;
      if (layer.scheme == "learned") {
        weights.emplace("table", Tensor<double>({layer.table_rows, layer.width}));
        request.weights = &weights;
      }
      EXPECT_NO_THROW(scheme.make(request)) << file.path() << " " << layer.scheme;
    }
  }
  EXPECT_GE(count, 25);
}

// What the configuration classes of transformers 5.23 take for a key that is not there; null is not
// that: it says that there is no window.
TEST(ModelConfig, TakesTheWindowOfTheModelTypeWhereTheKeyIsAbsent) {
  const auto window = [](const std::string& type, const std::string& more) {
    const ModelConfig config = parse_model_config(
        "{\"model_type\":\"" + type +
            R"(","hidden_size":64,"num_hidden_layers":6,"num_attention_heads":8,"head_dim":8,)"
            R"("num_key_value_heads":4,"max_position_embeddings":64)" +
            more + "}",
        "c");
    return layer_positions(config, 0).window_left;
  };
  for (const char* type : {"mistral", "gemma2", "gemma3_text", "cohere2"}) {
    EXPECT_EQ(window(type, ""), 4095) << type;
    EXPECT_EQ(window(type, R"(,"sliding_window":null)"), -1) << type;
    EXPECT_EQ(window(type, R"(,"sliding_window":16)"), 15) << type;
  }
  EXPECT_EQ(window("gpt_oss", ""), 127);
  EXPECT_EQ(window("gpt_oss", R"(,"sliding_window":null)"), -1);
  for (const char* type : {"mixtral", "phi3", "starcoder2", "llama", "qwen2", "qwen3"}) {
    EXPECT_EQ(window(type, ""), -1) << type;
  }
  for (const char* type : {"qwen2", "qwen3"}) {
    const std::string used = R"(,"use_sliding_window":true,"max_window_layers":0)";
    EXPECT_EQ(window(type, used), 4095) << type;
    EXPECT_EQ(window(type, used + R"(,"sliding_window":null)"), -1) << type;
  }
}

// Images on long texts: the ids of time, row and column on a ladder that YaRN changed.
TEST(ModelConfig, ScalesTheSectionsOfImages) {
  const LayerPositions layer = layer_positions(load("qwen2_5_vl_yarn"), 0);
  EXPECT_EQ(layer.scheme, "rotary_yarn");
  EXPECT_THAT(layer.parameters,
              UnorderedElementsAre(Pair("base", "1000000"), Pair("layout", "half_split"),
                                   Pair("sections", "16,24,24"), Pair("order", "sectioned"),
                                   Pair("factor", "4"), Pair("original_length", "32768")));
  const std::vector<std::int64_t> ids = {100, 7, 9};
  SchemeRequest request = layer.request(ids);
  request.axes = 3;
  const auto table = std::get<RotationTable<double>>(find_scheme("rotary_yarn").make(request));
  const RotationTable<double> plain = rotary<double>(
      {.head_dim = 128, .base = 1e6, .scaling = YarnScaling{.factor = 4, .original_length = 32768}},
      ids);
  for (std::int64_t k = 0; k < 64; ++k) {
    EXPECT_EQ(table.sin(0, k), plain.sin(k < 16 ? 0 : k < 40 ? 1 : 2, k)) << k;
  }
}

TEST(ModelConfig, LetsTheQueriesOfMinistral3Grow) {
  const std::map<std::string, std::string> growing = {
      {"base", "1000000"},   {"layout", "half_split"},
      {"factor", "16"},      {"original_length", "16384"},
      {"beta_fast", "32"},   {"beta_slow", "1"},
      {"mscale", "1"},       {"mscale_all_dim", "1"},
      {"attn_scale", "0.1"}, {"floor_scale", "16384"},
      {"floor_offset", "0"}};
  const ModelConfig given = load("ministral3");
  EXPECT_EQ(layer_positions(given, 0).scheme, "rotary_yarn");
  EXPECT_EQ(parameters_of(given), growing);
  EXPECT_EQ(layer_positions(given, 0).window_left, -1);
  // The class itself says the same where nothing is said of rotation.
  EXPECT_EQ(parameters_of(parse_model_config(R"({"model_type":"ministral3"})", "c")), growing);
  expect_refusal_with(scaled(R"("type":"yarn","factor":4,"llama_4_scaling_beta":0.1)"),
                      "llama_4_scaling_beta");
}

TEST(ModelConfig, TakesGptOssForYarnWhereNothingIsSaidOfRotation) {
  const auto read = [](const std::string& more) {
    return layer_positions(
        parse_model_config(R"({"model_type":"gpt_oss","hidden_size":64,"num_hidden_layers":2,)"
                           R"("num_attention_heads":8,"num_key_value_heads":4)" +
                               more + "}",
                           "c"),
        0);
  };
  for (const char* more : {"", R"(,"rope_parameters":null)", R"(,"rope_scaling":null)"}) {
    const LayerPositions layer = read(more);
    EXPECT_EQ(layer.scheme, "rotary_yarn") << more;
    EXPECT_EQ(layer.parameters.at("factor"), "32");
    EXPECT_EQ(layer.parameters.at("original_length"), "4096");
    EXPECT_EQ(layer.parameters.at("base"), "150000");
  }
  EXPECT_EQ(read(R"(,"rope_theta":5)").parameters.at("base"), "5");
  EXPECT_EQ(read(R"(,"rope_parameters":{"rope_type":"default"})").scheme, "rotary");
}

TEST(ModelConfig, ReadsLlama) {
  const ModelConfig two = load("llama2");
  EXPECT_EQ(two.model_type, "llama");
  EXPECT_EQ(two.max_positions, 4096);
  EXPECT_FALSE(two.layers_differ());
  ASSERT_EQ(two.layers.size(), 32U);
  const LayerPositions& layer = layer_positions(two, 31);
  EXPECT_EQ(layer.scheme, "rotary");
  EXPECT_THAT(layer.parameters,
              UnorderedElementsAre(Pair("base", "10000"), Pair("layout", "half_split")));
  EXPECT_EQ(layer.head_dim, 128);
  EXPECT_EQ(layer.heads, 32);
  EXPECT_EQ(layer.kv_heads, 32);
  EXPECT_TRUE(layer.causal);
  EXPECT_FALSE(layer.scale.has_value());
  EXPECT_EQ(layer.window_left, -1);

  for (const auto& [name, factor, head_dim] :
       {std::tuple("llama3_1", "8", 128), std::tuple("llama3_2_1b", "32", 64)}) {
    const ModelConfig three = load(name);
    EXPECT_EQ(three.layers[0].scheme, "rotary_llama3");
    EXPECT_EQ(three.layers[0].head_dim, head_dim);
    EXPECT_EQ(three.layers[0].kv_heads, 8);
    EXPECT_THAT(
        parameters_of(three),
        UnorderedElementsAre(Pair("base", "500000"), Pair("layout", "half_split"),
                             Pair("factor", factor), Pair("low_freq_factor", "1"),
                             Pair("high_freq_factor", "4"), Pair("original_length", "8192")));
  }
}

TEST(ModelConfig, ReadsQwen) {
  const ModelConfig yarn = load("qwen2_5_yarn");
  EXPECT_EQ(yarn.layers[0].scheme, "rotary_yarn");
  EXPECT_THAT(parameters_of(yarn),
              UnorderedElementsAre(Pair("base", "1000000"), Pair("layout", "half_split"),
                                   Pair("factor", "4"), Pair("original_length", "32768")));
  EXPECT_EQ(yarn.layers[0].window_left, -1);  // use_sliding_window is false

  const ModelConfig two = load("qwen2_vl");
  EXPECT_EQ(two.layers[0].scheme, "rotary_sections");
  EXPECT_EQ(parameters_of(two).at("sections"), "16,24,24");
  EXPECT_EQ(parameters_of(two).at("order"), "sectioned");

  const ModelConfig three = load("qwen3_vl");
  EXPECT_EQ(three.model_type, "qwen3_vl_text");
  EXPECT_EQ(parameters_of(three).at("sections"), "24,20,20");
  EXPECT_EQ(parameters_of(three).at("order"), "interleaved");
}

TEST(ModelConfig, ReadsBothKindsOfGemma3Layers) {
  for (const char* name : {"gemma3", "gemma3_rope_parameters"}) {
    const ModelConfig config = load(name);
    EXPECT_TRUE(config.layers_differ());
    for (std::size_t i = 0; i < config.layers.size(); ++i) {
      const LayerPositions& layer = config.layers[i];
      EXPECT_EQ(layer.head_dim, 256);
      EXPECT_EQ(layer.heads, 8);
      EXPECT_EQ(layer.kv_heads, 4);
      EXPECT_EQ(layer.scale, 0.0625);
      if (i % 6 == 5) {
        EXPECT_EQ(layer.scheme, "rotary_linear");
        EXPECT_EQ(layer.parameters.at("factor"), "8");
        EXPECT_EQ(layer.parameters.at("base"), "1000000");
        EXPECT_EQ(layer.window_left, -1);
      } else {
        EXPECT_EQ(layer.scheme, "rotary");
        EXPECT_EQ(layer.parameters.at("base"), "10000");
        EXPECT_EQ(layer.window_left, 1023);
      }
    }
  }
}

TEST(ModelConfig, ReadsPhi3AndGptOss) {
  const ModelConfig phi = load("phi3_128k");
  EXPECT_EQ(phi.layers[0].scheme, "rotary_longrope");
  EXPECT_EQ(parameters_of(phi).at("original_length"), "4096");
  EXPECT_EQ(parameters_of(phi).at("max_length"), "131072");
  EXPECT_EQ(parameters_of(phi).at("short_factor").substr(0, 11), "1,1.02,1.04");
  EXPECT_EQ(phi.layers[0].head_dim, 96);
  EXPECT_EQ(phi.layers[0].window_left, 262143);

  const ModelConfig oss = load("gpt_oss");
  EXPECT_EQ(oss.layers[0].window_left, 127);
  EXPECT_EQ(oss.layers[1].window_left, -1);
  for (const LayerPositions& layer : oss.layers) {
    EXPECT_EQ(layer.scheme, "rotary_yarn");
    EXPECT_THAT(layer.parameters,
                UnorderedElementsAre(Pair("base", "150000"), Pair("layout", "half_split"),
                                     Pair("factor", "32"), Pair("original_length", "4096"),
                                     Pair("beta_fast", "32"), Pair("beta_slow", "1"),
                                     Pair("truncate", "no")));
  }
}

TEST(ModelConfig, ReadsDeepSeeksLastChannelsAndScale) {
  const ModelConfig config = load("deepseek_v3");
  const LayerPositions& layer = config.layers[60];
  EXPECT_EQ(layer.scheme, "rotary_yarn");
  EXPECT_EQ(layer.head_dim, 192);
  EXPECT_THAT(layer.parameters,
              UnorderedElementsAre(Pair("base", "10000"), Pair("layout", "interleaved"),
                                   Pair("span", "last"), Pair("rotary_dim", "64"),
                                   Pair("factor", "40"), Pair("original_length", "4096"),
                                   Pair("beta_fast", "32"), Pair("beta_slow", "1"),
                                   Pair("mscale", "1"), Pair("mscale_all_dim", "1")));
  // The catalogue's golden value has 8 digits.
  EXPECT_NEAR(layer.scale.value(), 0.13523378, 0.5e-8);
}

TEST(ModelConfig, ReadsPartsOfHeads) {
  const ModelConfig neox = load("gpt_neox");
  EXPECT_THAT(parameters_of(neox),
              UnorderedElementsAre(Pair("base", "10000"), Pair("layout", "half_split"),
                                   Pair("rotary_dim", "24")));
  EXPECT_EQ(neox.layers[0].head_dim, 96);
  const ModelConfig j = load("gptj");
  EXPECT_THAT(parameters_of(j),
              UnorderedElementsAre(Pair("base", "10000"), Pair("layout", "interleaved"),
                                   Pair("rotary_dim", "64")));
  EXPECT_EQ(j.layers[0].head_dim, 256);
}

TEST(ModelConfig, ReadsLayersWithoutRotation) {
  const ModelConfig scout = load("llama4_scout");
  for (std::size_t i = 0; i < scout.layers.size(); ++i) {
    const LayerPositions& layer = scout.layers[i];
    if (i % 4 == 3) {
      EXPECT_EQ(layer.scheme, "temperature");
      EXPECT_THAT(layer.parameters,
                  UnorderedElementsAre(Pair("floor_scale", "8192"), Pair("attn_scale", "0.1")));
      EXPECT_EQ(layer.chunk, 0);
    } else {
      EXPECT_EQ(layer.scheme, "rotary_llama3");
      EXPECT_EQ(layer.parameters.at("layout"), "interleaved");
      EXPECT_EQ(layer.parameters.at("high_freq_factor"), "1");
      EXPECT_EQ(layer.chunk, 8192);
    }
  }
  const ModelConfig command = load("command_r7b");
  for (std::size_t i = 0; i < command.layers.size(); ++i) {
    EXPECT_EQ(command.layers[i].scheme, i % 4 == 3 ? "none" : "rotary");
    EXPECT_EQ(command.layers[i].window_left, i % 4 == 3 ? -1 : 4095);
  }
  EXPECT_EQ(parameters_of(command).at("layout"), "interleaved");
  const ModelConfig smol = load("smollm3");
  for (std::size_t i = 0; i < smol.layers.size(); ++i) {
    EXPECT_EQ(smol.layers[i].scheme, i % 4 == 3 ? "none" : "rotary");
  }
}

TEST(ModelConfig, ReadsBiases) {
  const ModelConfig bloom = load("bloom");
  EXPECT_EQ(bloom.layers[0].scheme, "alibi");
  EXPECT_EQ(bloom.layers[0].heads, 16);
  EXPECT_EQ(bloom.layers[0].bias_factor, 1);
  EXPECT_EQ(parameters_of(load("mpt")).at("max_bias"), "8");
  // Falcon adds its bias before it divides by sqrt(64).
  EXPECT_EQ(load("falcon_rw").layers[0].bias_factor, 0.125);

  const ModelConfig t5 = load("t5");
  ASSERT_EQ(t5.layers.size(), 12U);
  EXPECT_TRUE(t5.layers_differ());
  for (std::size_t i = 0; i < 12; ++i) {
    const LayerPositions& layer = t5.layers[i];
    EXPECT_EQ(layer.decoder, i >= 6);
    EXPECT_EQ(layer.causal, i >= 6);
    EXPECT_EQ(layer.scale, 1);
    EXPECT_THAT(layer.parameters,
                UnorderedElementsAre(Pair("num_buckets", "32"), Pair("max_distance", "128"),
                                     Pair("bidirectional", i < 6 ? "yes" : "no")));
  }
}

TEST(ModelConfig, ReadsLearnedTables) {
  const ModelConfig bert = load("bert");
  EXPECT_EQ(bert.layers[0].scheme, "learned");
  EXPECT_EQ(bert.layers[0].table_rows, 512);
  EXPECT_FALSE(bert.layers[0].causal);
  EXPECT_TRUE(parameters_of(bert).empty());
  const ModelConfig key = load("bert_relative_key");
  EXPECT_EQ(key.layers[0].scheme, "relative_key");
  EXPECT_THAT(parameters_of(key), UnorderedElementsAre(Pair("max_position", "512")));
  const ModelConfig both = parse_model_config(
      R"({"model_type":"bert","hidden_size":4,"num_hidden_layers":1,"num_attention_heads":1,)"
      R"("max_position_embeddings":40,"position_embedding_type":"relative_key_query"})");
  EXPECT_EQ(both.layers[0].scheme, "relative_key");
  EXPECT_THAT(parameters_of(both),
              UnorderedElementsAre(Pair("max_position", "40"), Pair("with_keys", "yes")));
  const ModelConfig roberta = load("roberta");
  EXPECT_EQ(parameters_of(roberta).at("offset"), "2");
  EXPECT_EQ(roberta.layers[0].table_rows, 514);
  EXPECT_EQ(roberta.max_positions, 512);
  const ModelConfig gpt2 = load("gpt2");
  EXPECT_EQ(gpt2.layers[0].table_rows, 1024);
  EXPECT_TRUE(gpt2.layers[0].causal);
  const ModelConfig opt = load("opt");
  EXPECT_EQ(parameters_of(opt).at("offset"), "2");
  EXPECT_EQ(opt.layers[0].table_rows, 2050);
}

TEST(ModelConfig, ReadsDebertaAndModernBert) {
  const ModelConfig deberta = load("deberta_v3");
  EXPECT_EQ(deberta.layers[0].scheme, "deberta");
  EXPECT_THAT(parameters_of(deberta),
              UnorderedElementsAre(Pair("max_position", "512"), Pair("position_buckets", "256")));
  EXPECT_EQ(deberta.layers[0].scale, 1 / std::sqrt(192.0));
  EXPECT_FALSE(deberta.layers[0].causal);

  const ModelConfig modern = load("modernbert");
  for (std::size_t i = 0; i < modern.layers.size(); ++i) {
    const LayerPositions& layer = modern.layers[i];
    EXPECT_EQ(layer.parameters.at("base"), i % 3 == 0 ? "160000" : "10000");
    EXPECT_EQ(layer.window_left, i % 3 == 0 ? -1 : 64);
    EXPECT_EQ(layer.window_right, i % 3 == 0 ? -1 : 64);
    EXPECT_FALSE(layer.causal);
  }
}

// What attention() takes, in one line: the scheme's own table, each number rounded once.
TEST(ModelConfig, GivesTheRotationOfALayer) {
  const std::vector<std::int64_t> ids = {0, 7, 100};
  const LayerPositions layer = layer_positions(load("llama3_1"), 0);
  const auto exact =
      std::get<RotationTable<double>>(find_scheme(layer.scheme).make(layer.request(ids)));
  const RotationTable<float> table = layer.rotation(ids);
  ASSERT_EQ(table.cos.shape(), exact.cos.shape());
  EXPECT_EQ(table.layout, exact.layout);
  for (std::int64_t n = 0; n < 3; ++n) {
    for (std::int64_t k = 0; k < 64; ++k) {
      EXPECT_EQ(table.cos(n, k), static_cast<float>(exact.cos(n, k)));
      EXPECT_EQ(table.sin(n, k), static_cast<float>(exact.sin(n, k)));
    }
  }
  EXPECT_EQ(layer_positions(load("deepseek_v3"), 0).rotation(ids).first_channel, 128);
  EXPECT_THAT([&] { layer_positions(load("bloom"), 0).rotation(ids); },
              ThrowsMessage<Error>("[layer_positions.rotation] must be of a layer whose scheme "
                                   "rotates, got the scheme alibi"));
}

TEST(ModelConfig, ReadsEverySpellingOfRopeSettings) {
  const auto scheme = [](const std::string& json) {
    return parse_model_config(json).layers[0].scheme;
  };
  EXPECT_EQ(scheme(scaled(R"("type":"linear","factor":2)")), "rotary_linear");
  EXPECT_EQ(scheme(scaled(R"("rope_type":"linear","type":"linear","factor":2)")), "rotary_linear");
  EXPECT_EQ(scheme(scaled(R"("type":"dynamic","factor":2)")), "rotary_dynamic_ntk");
  EXPECT_EQ(
      parameters_of(parse_model_config(scaled(R"("type":"dynamic","factor":2)"))).at("max_length"),
      "64");
  EXPECT_EQ(scheme(scaled(R"("type":"su","short_factor":[1,1,1,1],"long_factor":[2,2,2,2])")),
            "rotary_longrope");
  const ModelConfig part = parse_model_config(
      llama(R"("rope_parameters":{"rope_type":"proportional","partial_rotary_factor":0.25,)"
            R"("rope_theta":1e6})"));
  EXPECT_EQ(part.layers[0].scheme, "rotary_proportional");
  EXPECT_THAT(parameters_of(part),
              UnorderedElementsAre(Pair("base", "1000000"), Pair("layout", "half_split"),
                                   Pair("proportion", "0.25")));
  EXPECT_EQ(
      parameters_of(parse_model_config(phi(R"("rope_parameters":{"rope_type":"default",)"
                                           R"("rope_theta":5e5,"partial_rotary_factor":0.25})")))
          .at("rotary_dim"),
      "2");
  // YaRN's factor is the ratio of lengths where it is not given.
  EXPECT_EQ(parameters_of(parse_model_config(
                              scaled(R"("type":"yarn","original_max_position_embeddings":16)")))
                .at("factor"),
            "4");
  const ModelConfig all = parse_model_config(
      scaled(R"("type":"yarn","factor":2,"attention_factor":1.5,"mscale":0.5,)"
             R"("mscale_all_dim":0.25,"truncate":true,"beta_fast":16,"beta_slow":2)"));
  EXPECT_THAT(parameters_of(all),
              UnorderedElementsAre(Pair("base", "10000"), Pair("layout", "half_split"),
                                   Pair("factor", "2"), Pair("original_length", "64"),
                                   Pair("attention_factor", "1.5"), Pair("mscale", "0.5"),
                                   Pair("mscale_all_dim", "0.25"), Pair("truncate", "yes"),
                                   Pair("beta_fast", "16"), Pair("beta_slow", "2")));
}

TEST(ModelConfig, RefusesWhatItDoesNotKnowByName) {
  expect_refused(scaled(R"("type":"ntk-by-magic","factor":2)"),
                 "rope_scaling.type must be default, linear, dynamic, yarn, longrope (su), llama3, "
                 "proportional or mrope, got 'ntk-by-magic'");
  expect_refused(scaled(R"("type":"linear","factor":2,"alpha":3)"),
                 "rope_scaling.alpha is not known here: this rope type has rope_type, rope_theta, "
                 "partial_rotary_factor, factor");
  expect_refusal_with(scaled(R"("type":"default","factor":2)"), "rope_scaling.factor is not known");
  expect_refusal_with(scaled(R"("type":"longrope","short_factor":[1],"long_factor":[1],)"
                             R"("short_mscale":1.1)"),
                      "rope_scaling.short_mscale is not known");
  expect_refused(scaled(R"("type":"mrope","mrope_section":[1,1,2])"),
                 "rope_scaling.mrope_section is not known for this model type");
  expect_refused(llama(R"("rotary_scaling_power":2)"),
                 "rotary_scaling_power is about positions, but is not known for the model type "
                 "llama: it would be lost (remove it to read the model without it)");
  EXPECT_NO_THROW(parse_model_config(llama(R"("alibi":false,"vocab_size":7,"x":{"rope":1})")));
  expect_refusal_with(R"({"model_type":"bert","hidden_size":4,"num_hidden_layers":1,)"
                      R"("num_attention_heads":1,"max_position_embeddings":4,)"
                      R"("position_embedding_type":"relative_query"})",
                      "position_embedding_type must be absolute, relative_key or "
                      "relative_key_query, got 'relative_query'");
  expect_refusal_with(R"({"model_type":"deberta-v2","hidden_size":4,"num_hidden_layers":1,)"
                      R"("num_attention_heads":1,"max_position_embeddings":4,)"
                      R"("relative_attention":true,"position_biased_input":false,)"
                      R"("pos_att_type":["c2p"]})",
                      "pos_att_type must name both c2p and p2c");
  expect_refusal_with(R"({"model_type":"hyena"})", "model_type must be one of bart, bert,");
  expect_refused(R"({"hidden_size":1})", "model_type must be given");
}

TEST(ModelConfig, RefusesContradictions) {
  expect_refused(scaled(R"("type":"linear","rope_type":"dynamic","factor":2)"),
                 "rope_scaling.type must be the same as rope_type, dynamic, got linear");
  expect_refused(llama(R"("rope_theta":5,"rope_parameters":{"rope_theta":6})"),
                 "rope_parameters.rope_theta must be the same as rope_theta, 5, got 6");
  expect_refused(llama(R"("rope_scaling":{"type":"linear","factor":2},"rope_parameters":{})"),
                 "rope_scaling must not be given with rope_parameters of other values");
  expect_refused(llama(R"("n_head":3)"),
                 "n_head must be the same as num_attention_heads, 2, got 3");
  expect_refused(llama(R"("num_key_value_heads":3)"),
                 "num_key_value_heads must divide the 2 heads of queries, got 3");
  expect_refused(llama(R"("layer_types":["sliding_attention"])"),
                 "layer_types must not have sliding_attention where no sliding_window is in use");
  expect_refused(llama(R"("layer_types":[])"), "layer_types must name all 1 layers, got 0");
  expect_refused(R"({"model_type":"gemma3","rope_theta":3,"text_config":)" + llama("") + "}",
                 "rope_theta must repeat the value of the other keys, 10000, got 3");
  expect_refused(
      R"({"model_type":"x","rope_theta":3,"text_config":)" + llama(R"("rope_theta":4)") + "}",
      "rope_theta must be the same as in text_config");
}

TEST(ModelConfig, RefusesValuesOutOfRange) {
  expect_refused(scaled(R"("type":"linear")"), "rope_scaling.factor must be given");
  expect_refused(scaled(R"("type":"linear","factor":0)"),
                 "rope_scaling.factor must be above 0, got 0");
  expect_refused(scaled(R"("type":"linear","factor":"2")"),
                 "rope_scaling.factor must be a number, got '2'");
  expect_refused(llama(R"("rope_scaling":"linear")"),
                 "rope_scaling must be an object, got 'linear'");
  expect_refused(llama(R"("head_dim":0)"), "head_dim must be a whole number of 1 or more, got 0");
  expect_refused(llama(R"("head_dim":1.5)"),
                 "head_dim must be a whole number of 1 or more, got 1.5");
  expect_refused(phi(R"("partial_rotary_factor":1.5)"),
                 "partial_rotary_factor must be at most 1, got 1.5");
  expect_refused(
      phi(R"("partial_rotary_factor":0.4)"),
      "partial_rotary_factor must leave an even number of channels to rotate, got 3 of 8");
  expect_refused(
      R"({"model_type":"llama","hidden_size":16,"num_hidden_layers":99999,"num_attention_heads":2})",
      "num_hidden_layers must be at most 10000");
  EXPECT_THAT([] { layer_positions(parse_model_config(llama("")), 1); },
              ThrowsMessage<Error>("[layer_positions.layer] must be 0 .. 0, got 1"));
}

TEST(ModelConfig, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "{\"a\":}", "{\"a\":1}}", "{\"\xff\":1}", "{\"a\":NaN}"}) {
    expect_refusal_with(text, "[c] must be valid JSON, got an error at byte ");
  }
  expect_refused("[]", "must be a JSON object, got array");
  expect_refused(std::string("{}\0", 3), "must be valid JSON, got an error at byte 3: a zero byte");
  expect_refused(llama(R"("rope_theta":1,"rope_theta":2)"),
                 "has the key 'rope_theta' twice in one object");
  expect_refused(scaled(R"("factor":1,"factor":1)"), "has the key 'factor' twice in one object");
  expect_refused("{\"a\":" + std::string(100000, '['), "must have at most 32 levels of JSON");
}

}  // namespace
}  // namespace sextant
