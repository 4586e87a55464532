// Keys that no reader asks for: repetitions and keys without effect are no loss, contradictions and
// unknown meanings are refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/interop/model_config.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string config_of(const std::string& type, const std::string& more) {
  return "{\"model_type\":\"" + type + "\"" + (more.empty() ? "" : "," + more) + "}";
}
LayerPositions layer_of(const std::string& type, const std::string& more, std::int64_t layer = 0) {
  return layer_positions(parse_model_config(config_of(type, more), "c"), layer);
}
void expect_refused(const std::string& type, const std::string& more, const std::string& key,
                    const std::string& what) {
  EXPECT_THAT([&] { layer_of(type, more); },
              ThrowsMessage<Error>(AllOf(HasSubstr("[c] " + key + " "), HasSubstr(what))))
      << type << " " << more;
}

// Keys of published files that say once more what the others say, or that do nothing.
struct Published {
  const char* type;
  const char* keys;
};
constexpr Published kPublished[] = {
    {"stablelm", R"("rope_theta":10000,"rotary_scaling_factor":1.0,"partial_rotary_factor":0.25)"},
    {"stablelm", R"("rope_pct":0.25,"use_qkv_bias":true)"},
    {"gemma2", R"("sliding_window":4096,"sliding_window_size":4096,"cache_implementation":"hybrid",
                  "attn_logit_softcapping":50.0,"final_logit_softcapping":30.0)"},
    {"gemma2", R"("use_sliding_window_attention":true)"},
    {"mistral", R"("sliding_window":4096,"attention_window_size":4096,"use_swa":true)"},
    {"mistral", R"("sliding_window":null,"use_sliding_window":false,"max_window_layers":28)"},
    {"llama", R"("is_llama_config":true,"rope_interleaved":false,"rope_theta":100000)"},
    {"llama", R"("sliding_window":4096,"use_sliding_window":false,"max_window_layers":28)"},
    {"llama", R"("rotary_pct":1.0,"rotary_dim":128,"rotary_emb_base":10000,"use_rope":true,
                 "position_embedding_type":"rope","alibi":false,"use_alibi":false)"},
    {"llama", R"("partial_rotary_factor":1.0,"nope_layer_interval":0,"num_sink_tokens":0)"},
    {"llama", R"("layer_types":null,"window_size":-1,"use_dynamic_ntk":false,"ntk_alpha":1.0)"},
    {"llama", R"("rope_scaling":{"rope_type":"default","factor":1.0})"},
    {"llama",
     R"("rope_scaling":{"type":"linear","factor":4.0,"original_max_position_embeddings":512},
                 "max_position_embeddings":2048)"},
    {"llama", R"("rope_scaling":{"type":"dynamic","factor":2.0,"max_position_embeddings":2048},
                 "max_position_embeddings":2048)"},
    {"llama", R"("rope_scaling":{"type":"yarn","factor":16.0,"original_max_position_embeddings":128,
                 "finetuned":true,"attn_factor":1.0,"extrapolation_factor":1},
                 "original_max_position_embeddings":128)"},
    {"cohere2", R"("rotary_pct":1.0,"position_embedding_type":"rope_gptj",
                   "order_of_interleaved_layers":"local_attn_first","sliding_window_pattern":4)"},
    {"modernbert", R"("position_embedding_type":"absolute","global_attn_every_n_layers":3)"},
    {"modernbert", R"("position_embedding_type":"sans_pos","local_attention":128)"},
    {"gptj", R"("rotary":true,"rotary_dim":64,"rope_theta":10000,"scale_attn_weights":true)"},
    {"gpt_neox", R"("rotary_pct":0.25,"rotary_emb_base":10000,"rope_theta":10000)"},
    {"gpt_oss", R"("initial_context_length":4096,"sliding_window":128)"},
    {"phi3", R"("sliding_window":262144,"interpolate_factor":1,"full_attn_mod":1)"},
    {"qwen2", R"("use_sliding_window":false,"sliding_window":131072,"max_window_layers":28,
                 "use_mrope":false,"dual_chunk_attention_config":null)"},
    {"qwen2", R"("use_logn_attn":false,"logn_list":[],"sink_size":0,"use_dynamic_ntk":false)"},
    {"smollm3", R"("use_sliding_window":false,"sliding_window":null,"max_window_layers":28)"},
    {"falcon", R"("alibi":false,"rotary":true,"multi_query":true)"},
    {"falcon", R"("alibi":true,"rotary":false,"rope_theta":10000.0,"rope_scaling":null)"},
    {"bloom", R"("offset_alibi":100,"alibi":true,"position_embedding_type":"alibi")"},
    {"gpt2", R"("position_embedding_type":"learned_absolute","rotary":false,"window_size":0)"},
    {"t5", R"("relative_attention":false,"rope_scaling":null)"},
};

TEST(OtherKeys, LetsRepetitionsAndKeysWithoutEffectPass) {
  for (const Published& each : kPublished) {
    EXPECT_NO_THROW(layer_of(each.type, each.keys)) << each.type << " " << each.keys;
  }
}

TEST(OtherKeys, ReadsTheSameLayersWithAndWithoutThem) {
  EXPECT_EQ(layer_of("gemma2", R"("sliding_window_size":4096)"), layer_of("gemma2", ""));
  EXPECT_EQ(layer_of("stablelm", R"("rotary_scaling_factor":1.0)"), layer_of("stablelm", ""));
  EXPECT_EQ(layer_of("llama", R"("rotary_emb_base":10000)"), layer_of("llama", ""));
}

TEST(OtherKeys, RefusesContradictionsByName) {
  const struct {
    const char *type, *keys, *key, *what;
  } cases[] = {
      {"gemma2", R"("sliding_window_size":2048)", "sliding_window_size",
       "must repeat the value of the other keys, 4096, got 2048"},
      {"gemma2", R"("sliding_window_size":0)", "sliding_window_size", "4096, got 0"},
      {"stablelm", R"("rotary_scaling_factor":2.0)", "rotary_scaling_factor", "1, got 2"},
      {"stablelm", R"("rope_pct":0.5)", "rope_pct", "0.25, got 0.5"},
      {"llama", R"("rotary_emb_base":500000)", "rotary_emb_base", "10000, got 500000"},
      {"llama", R"("rotary_dim":64)", "rotary_dim", "128, got 64"},
      {"llama", R"("rotary_pct":0.5)", "rotary_pct", "1, got 0.5"},
      {"llama", R"("rope_interleaved":true)", "rope_interleaved", "false, got true"},
      {"gptj", R"("rotary_interleaved":false)", "rotary_interleaved", "true, got false"},
      {"gptj", R"("rope_theta":500000)", "rope_theta", "10000, got 500000"},
      {"llama", R"("use_rope":false)", "use_rope", "true, got false"},
      {"llama", R"("alibi":true)", "alibi", "false, got true"},
      {"gpt_neox", R"("rope_theta":5)", "rope_theta", "10000, got 5"},
      {"gpt_neox", R"("partial_rotary_factor":0.5)", "partial_rotary_factor", "0.25, got 0.5"},
      {"gpt2", R"("rotary":true)", "rotary", "false, got true"},
      {"llama", R"("use_window_attention":true)", "use_window_attention", "false, got true"},
      {"mistral", R"("window_size":512)", "window_size", "4096, got 512"},
      {"llama", R"("layer_types":["sliding_attention"],"num_hidden_layers":1,"sliding_window":8)",
       "layer_types", "must not have sliding_attention"},
      {"mistral", R"("layer_types":["full_attention"],"num_hidden_layers":1)", "layer_types",
       "must be sliding_attention for layer 0"},
      {"llama", R"("rope_scaling":{"rope_type":"default","factor":2})", "rope_scaling.factor",
       "is not known here"},
      {"llama", R"("rope_scaling":{"rope_type":"linear","factor":2,
                   "original_max_position_embeddings":77})",
       "rope_scaling.original_max_position_embeddings",
       "must repeat max_position_embeddings, 2048, or that over the factor, 2, because"},
      {"llama", R"("position_embedding_type":"alibi")", "position_embedding_type", "is about"},
  };
  for (const auto& each : cases) expect_refused(each.type, each.keys, each.key, each.what);
}

// What has an effect somewhere, but not in what is read, is never dropped in silence.
TEST(OtherKeys, RefusesWhatWouldBeLost) {
  const struct {
    const char *type, *keys, *key;
  } cases[] = {
      {"qwen2",
       R"("dual_chunk_attention_config":{"chunk_size":262144,"local_size":8192,
          "original_max_position_embeddings":262144})",
       "dual_chunk_attention_config"},
      {"qwen2", R"("use_logn_attn":true)", "use_logn_attn"},
      {"qwen2", R"("use_dynamic_ntk":true)", "use_dynamic_ntk"},
      {"llama", R"("ntk_alpha":1000.0)", "ntk_alpha"},
      {"llama", R"("nope_layers":[3,7])", "nope_layers"},
      {"llama", R"("nope_layer_interval":4)", "nope_layer_interval"},
      {"llama", R"("no_rope_layers":[1,0])", "no_rope_layers"},
      {"llama", R"("sink_size":4)", "sink_size"},
      {"llama", R"("num_attention_sinks":4)", "num_attention_sinks"},
      {"llama", R"("attn_logit_softcapping":50.0)", "attn_logit_softcapping"},
      {"llama", R"("attention_logit_cap":50.0)", "attention_logit_cap"},
      {"llama", R"("window_size":512)", "window_size"},
      {"llama", R"("attention_chunk_size":512)", "attention_chunk_size"},
      {"bert", R"("rope_theta":10000)", "rope_theta"},
      {"gpt2", R"("attention_types":[[["global","local"],6]])", "attention_types"},
  };
  for (const auto& each : cases) {
    expect_refused(each.type, each.keys, each.key, "it would be lost (remove it");
  }
  // Words that only look alike, and what is not about attention.
  EXPECT_NO_THROW(layer_of("llama", R"("property":1,"temperature":0.7,"final_logit_softcapping":30,
                                       "sinkhorn_iterations":3)"));
}

TEST(OtherKeys, HoldsBesideTheTextModelToo) {
  const auto read = [](const std::string& beside) {
    return parse_model_config(R"({"model_type":"x",)" + beside +
                                  R"("text_config":{"model_type":"mistral","rope_theta":1e6}})",
                              "c");
  };
  EXPECT_NO_THROW(read(R"("rope_theta":1e6,"sliding_window":4096,"window_size":4096,)"));
  EXPECT_THAT([&] { read(R"("rope_theta":5,)"); },
              ThrowsMessage<Error>("[c] rope_theta must be the same as in text_config"));
  EXPECT_THAT([&] { read(R"("window_size":5,)"); },
              ThrowsMessage<Error>("[c] window_size must repeat the value of the other keys, "
                                   "4096, got 5"));
  EXPECT_THAT([&] { read(R"("rope_scaling":{"type":"linear","factor":2},)"); },
              ThrowsMessage<Error>(HasSubstr("rope_scaling is about positions, but is not in "
                                             "text_config, but only text_config is read")));
}

// As transformers 5.23 does: these classes rotate all channels, those read the key.
TEST(OtherKeys, ReadsAPartOfTheChannelsOnlyWhereTheModelTypeDoes) {
  const std::string part = R"("partial_rotary_factor":0.5)";
  for (const char* type : {"llama", "mistral", "mixtral", "qwen2", "qwen3", "olmo2", "gemma2",
                           "granite", "cohere", "starcoder2", "smollm3", "falcon"}) {
    EXPECT_EQ(layer_of(type, part), layer_of(type, "")) << type;
    EXPECT_EQ(layer_of(type, "\"rope_parameters\":{\"rope_type\":\"default\"," + part + "}")
                  .parameters.count("rotary_dim"),
              0U)
        << type;
  }
  for (const char* type : {"phi", "phi3", "stablelm", "gpt_neox", "glm", "glm4"}) {
    const std::string key = std::string(type) == "gpt_neox" ? R"("rotary_pct":0.5)" : part;
    const LayerPositions layer = layer_of(type, key);
    EXPECT_EQ(layer.parameters.at("rotary_dim"), std::to_string(layer.head_dim / 2)) << type;
  }
  // There those classes compute frequencies of half the channels, which fit no query.
  expect_refused("llama", R"("rope_scaling":{"type":"linear","factor":2},)" + part,
                 "partial_rotary_factor", "must be 1 with this rope type");
  expect_refused("llama", "\"rope_scaling\":{\"type\":\"linear\",\"factor\":2," + part + "}",
                 "rope_scaling.partial_rotary_factor", "must be 1 with this rope type");
  EXPECT_EQ(layer_of("llama", R"("rope_scaling":{"type":"proportional"},)" + part)
                .parameters.at("proportion"),
            "0.5");
}

TEST(OtherKeys, ReadsEntriesByLayerTypeOnlyWhereTheModelTypeDoes) {
  const std::string entries = R"("rope_parameters":{"full_attention":{"rope_theta":1e6},
                                  "sliding_attention":{"rope_theta":1e4}})";
  EXPECT_EQ(layer_of("gemma3_text", entries, 5).parameters.at("base"), "1000000");
  EXPECT_EQ(layer_of("olmo3", entries, 3).parameters.at("base"), "1000000");
  EXPECT_EQ(layer_of("olmo3", entries, 0).parameters.at("base"), "10000");
  expect_refused("llama", entries, "rope_parameters.full_attention", "is not known here");
  expect_refused("qwen2", entries, "rope_parameters.full_attention", "is not known here");
}

// As files of the hub are: the scaling is for layers that see everything.
TEST(OtherKeys, ScalesGlobalLayersOfOlmo3Alone) {
  const std::string scaled = R"("rope_theta":7e5,"rope_scaling":{"rope_type":"yarn","factor":8,
                                 "original_max_position_embeddings":8192})";
  EXPECT_EQ(layer_of("olmo3", scaled, 2).scheme, "rotary");
  EXPECT_EQ(layer_of("olmo3", scaled, 3).scheme, "rotary_yarn");
  for (const int layer : {2, 3}) {
    EXPECT_EQ(layer_of("olmo3", scaled, layer).parameters.at("base"), "700000");
  }
}

TEST(OtherKeys, ReadsUseSlidingWindowOnlyWhereTheModelTypeDoes) {
  const std::string off = R"("use_sliding_window":false)";
  EXPECT_EQ(layer_of("mistral", off).window_left, 4095);
  EXPECT_EQ(layer_of("gemma2", off).window_left, 4095);
  EXPECT_EQ(layer_of("qwen3_moe", off).window_left, -1);
}

TEST(OtherKeys, GivesSoftcapsAndSinks) {
  EXPECT_EQ(layer_of("gemma2", "").softcap, 50);
  EXPECT_EQ(layer_of("gemma2", R"("attn_logit_softcapping":30)").softcap, 30);
  EXPECT_EQ(layer_of("gemma2", R"("attn_logit_softcapping":null)").softcap, 0);
  EXPECT_EQ(layer_of("gemma3_text", "").softcap, 0);
  EXPECT_EQ(layer_of("gemma3_text", R"("attn_logit_softcapping":20)").softcap, 20);
  EXPECT_EQ(layer_of("llama", "").softcap, 0);
  EXPECT_TRUE(layer_of("gpt_oss", "").sinks);
  EXPECT_FALSE(layer_of("llama", "").sinks);
  EXPECT_EQ(layer_of("gpt_oss", "", 1).softcap, 0);
}

// BERT has one stack, and it is an encoder unless the config says otherwise.
TEST(OtherKeys, TellsEncodersFromDecoders) {
  for (const char* type :
       {"bert", "roberta", "camembert", "xlm-roberta", "deberta", "deberta-v2", "modernbert"}) {
    EXPECT_FALSE(layer_of(type, "").decoder) << type;
    EXPECT_FALSE(layer_of(type, "").causal) << type;
  }
  for (const char* type : {"gpt2", "llama", "bloom", "opt", "mpt", "gemma3_text"}) {
    EXPECT_TRUE(layer_of(type, "").decoder) << type;
  }
  EXPECT_TRUE(layer_of("bert", R"("is_decoder":true)").decoder);
}

}  // namespace
}  // namespace sextant
