// `sextant convert-rotary`: whole checkpoints, and what it will not touch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "apps/run_program.h"
#include "sextant/core/safetensors.h"
#include "sextant/interop/convert_rotary.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;

using Tensors = std::map<std::string, Array>;

// Every row has its own numbers.
Array counted(const Shape& shape) {
  Array array;
  array.shape = shape;
  array.bytes = Tensor<std::byte>(Shape{shape.count() * 4});
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(array.bytes.data() + 4 * i, &value, 4);
  }
  return array;
}

bool same(const Array& a, const Array& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         std::memcmp(a.bytes.data(), b.bytes.data(), static_cast<std::size_t>(a.bytes.count())) ==
             0;
}

// 4 heads of q, 2 of k, 4 channels each.
constexpr const char* kLlama =
    R"({"model_type":"llama","hidden_size":16,"num_hidden_layers":2,"num_attention_heads":4,)"
    R"("num_key_value_heads":2,"max_position_embeddings":64)";

std::string model(const std::string& layer, const std::string& name) {
  return "model.layers." + layer + ".self_attn." + name;
}

Tensors llama() {
  Tensors tensors;
  for (const char* layer : {"0", "1"}) {
    tensors[model(layer, "q_proj.weight")] = counted({16, 16});
    tensors[model(layer, "k_proj.weight")] = counted({8, 16});
    tensors[model(layer, "v_proj.weight")] = counted({8, 16});
    tensors[model(layer, "o_proj.weight")] = counted({16, 16});
    tensors[model(layer, "q_proj.bias")] = counted({16});
    tensors[model(layer, "k_proj.bias")] = counted({8});
    tensors[model(layer, "q_norm.weight")] = counted({4});
    tensors[model(layer, "k_norm.weight")] = counted({4});
    tensors[model(layer, "rotary_emb.inv_freq")] = counted({2});
  }
  tensors["model.embed_tokens.weight"] = counted({5, 16});
  return tensors;
}

struct Converted {
  Folder folder;
  Outcome outcome;
  Tensors tensors;
  std::map<std::string, std::string> metadata;
};

void convert(Converted& run, const Tensors& tensors, const std::string& config,
             const std::string& more,
             const std::map<std::string, std::string>& metadata = {{"format", "pt"}}) {
  put(run.folder / "config.json", config);
  save_safetensors(run.folder / "in.safetensors", tensors, metadata);
  run.outcome = sextant("convert-rotary " + run.folder / "in.safetensors" + " -o " +
                        run.folder / "out.safetensors" + " --config " + run.folder / "config.json" +
                        " " + more);
  if (run.outcome.code != 0) return;
  SafetensorsFile file = load_safetensors(run.folder / "out.safetensors");
  run.tensors = std::move(file.tensors);
  run.metadata = std::move(file.metadata);
}

TEST(ConvertRotaryCommand, PermutesQAndKOfEveryLayerAndCopiesTheRest) {
  Converted run;
  const Tensors before = llama();
  convert(run, before, std::string(kLlama) + "}", "--to interleaved");
  ASSERT_EQ(run.outcome.code, 0) << run.outcome.err;
  EXPECT_EQ(run.metadata.at("format"), "pt");
  EXPECT_EQ(run.metadata.at("rotary_layout"), "interleaved");
  ASSERT_EQ(run.tensors.size(), before.size());
  for (const auto& [name, array] : before) {
    const bool turns = name.find("q_") != std::string::npos || name.find("k_") != std::string::npos;
    Array wanted;
    wanted.shape = array.shape;
    wanted.bytes = array.bytes.clone();
    if (turns) to_interleaved(wanted, {4});
    EXPECT_TRUE(same(run.tensors.at(name), wanted)) << name;
  }
  EXPECT_THAT(run.outcome.out, HasSubstr("model.layers.1.self_attn.k_proj.weight [8, 16]\n"));
  EXPECT_THAT(run.outcome.out,
              HasSubstr("to interleaved: 12 tensors of the layers 0-1; 7 tensors copied\n"));
}

TEST(ConvertRotaryCommand, GoesThereAndBackBitForBit) {
  Converted there, back;
  const Tensors before = llama();
  convert(there, before, std::string(kLlama) + "}", "--to interleaved");
  ASSERT_EQ(there.outcome.code, 0) << there.outcome.err;
  convert(back, there.tensors, std::string(kLlama) + "}", "--to half_split", there.metadata);
  ASSERT_EQ(back.outcome.code, 0) << back.outcome.err;
  EXPECT_EQ(back.outcome.err, "");
  for (const auto& [name, array] : before) EXPECT_TRUE(same(back.tensors.at(name), array)) << name;
}

TEST(ConvertRotaryCommand, RefusesToConvertTwice) {
  Converted run;
  convert(run, llama(), std::string(kLlama) + "}", "--to interleaved",
          {{"rotary_layout", "interleaved"}});
  EXPECT_EQ(run.outcome.code, 1);
  EXPECT_THAT(run.outcome.err, HasSubstr("is interleaved already, as its metadata says"));
  Converted odd;
  convert(odd, llama(), std::string(kLlama) + "}", "--to interleaved", {{"rotary_layout", "x"}});
  EXPECT_THAT(odd.outcome.err, HasSubstr("must have half_split or interleaved as rotary_layout"));
}

TEST(ConvertRotaryCommand, SaysWhatItTookAFileFor) {
  Converted run;
  convert(run, llama(), std::string(kLlama) + "}", "--to half_split");
  EXPECT_EQ(run.outcome.code, 0);
  EXPECT_THAT(run.outcome.out, HasSubstr("was assumed to be interleaved"));
  EXPECT_THAT(run.outcome.err, HasSubstr("models of the type llama are usually half_split"));
}

TEST(ConvertRotaryCommand, LeavesLayersThatDoNotRotate) {
  Converted run;
  std::string config = std::string(kLlama) + R"(,"no_rope_layers":[1,0]})";
  config.replace(config.find("llama"), 5, "smollm3");
  const Tensors before = llama();
  convert(run, before, config, "--to interleaved");
  ASSERT_EQ(run.outcome.code, 0) << run.outcome.err;
  for (const auto& [name, array] : before) {
    if (name.find("layers.1") == std::string::npos) continue;
    EXPECT_TRUE(same(run.tensors.at(name), array)) << name;
  }
  EXPECT_THAT(run.outcome.out, HasSubstr("6 tensors of the layers 0;"));
}

TEST(ConvertRotaryCommand, KnowsFusedProjections) {
  // GPT-NeoX: q, k and v of one head after the other; half of the channels turn.
  Converted neox;
  Tensors tensors;
  tensors["gpt_neox.layers.0.attention.query_key_value.weight"] = counted({24, 2});
  const std::string config =
      R"({"model_type":"gpt_neox","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":1,)"
      R"("max_position_embeddings":64,"rotary_pct":0.5})";
  convert(neox, tensors, config, "--to interleaved");
  ASSERT_EQ(neox.outcome.code, 0) << neox.outcome.err;
  Array wanted = counted({24, 2});
  to_interleaved(wanted, {8, 4}, 0, 16);
  EXPECT_TRUE(same(neox.tensors.begin()->second, wanted));

  // Phi-3: all of q, then k, then v; two heads of q share one of k.
  Converted phi;
  tensors.clear();
  tensors["model.layers.0.self_attn.qkv_proj.weight"] = counted({16, 3});
  convert(phi, tensors,
          R"({"model_type":"phi3","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,)"
          R"("num_key_value_heads":1,"max_position_embeddings":64})",
          "--to interleaved");
  ASSERT_EQ(phi.outcome.code, 0) << phi.outcome.err;
  wanted = counted({16, 3});
  to_interleaved(wanted, {4}, 0, 12);
  EXPECT_TRUE(same(phi.tensors.begin()->second, wanted));
}

TEST(ConvertRotaryCommand, KnowsDeepSeeksLatentKey) {
  Converted run;
  Tensors tensors;
  tensors["model.layers.0.self_attn.q_b_proj.weight"] = counted({20, 3});
  tensors["model.layers.0.self_attn.q_a_proj.weight"] = counted({3, 8});
  tensors["model.layers.0.self_attn.kv_a_proj_with_mqa.weight"] = counted({9, 8});
  tensors["model.layers.0.self_attn.kv_b_proj.weight"] = counted({12, 5});
  const std::string config = R"({"model_type":"deepseek_v3","hidden_size":8,"num_hidden_layers":1,)"
                             R"("num_attention_heads":2,"qk_nope_head_dim":6,"qk_rope_head_dim":4,)"
                             R"("max_position_embeddings":64})";
  convert(run, tensors, config, "--to half_split");
  ASSERT_EQ(run.outcome.code, 0) << run.outcome.err;
  Array q = counted({20, 3}), k = counted({9, 8});
  to_half_split(q, {10, 4, RotarySpan::last});
  to_half_split(k, {4}, 5, 9);
  EXPECT_TRUE(same(run.tensors.at("model.layers.0.self_attn.q_b_proj.weight"), q));
  EXPECT_TRUE(same(run.tensors.at("model.layers.0.self_attn.kv_a_proj_with_mqa.weight"), k));
  EXPECT_THAT(run.outcome.out, HasSubstr("2 tensors of the layers 0; 2 tensors copied"));
}

TEST(ConvertRotaryCommand, TakesOtherNames) {
  Converted run;
  Tensors tensors;
  tensors["layers.0.attn.to_queries.weight"] = counted({16, 16});
  tensors["layers.0.attn.to_keys.weight"] = counted({8, 16});
  convert(run, tensors, std::string(kLlama) + "}",
          "--to interleaved --names q=attn.to_queries,k=to_keys");
  ASSERT_EQ(run.outcome.code, 0) << run.outcome.err;
  Array wanted = counted({8, 16});
  to_interleaved(wanted, {4});
  EXPECT_TRUE(same(run.tensors.at("layers.0.attn.to_keys.weight"), wanted));
  EXPECT_THAT(run.outcome.out, HasSubstr("not in this file: layers 1\n"));
  EXPECT_EQ(sextant("convert-rotary a -o b --config c --to interleaved --names query=x").code, 2);
}

TEST(ConvertRotaryCommand, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](const std::string& name, const Shape& shape,
                          const std::string& config = std::string(kLlama) + "}") {
    Converted run;
    Tensors tensors = llama();
    tensors[name] = counted(shape);
    convert(run, tensors, config, "--to interleaved");
    EXPECT_EQ(run.outcome.code, 1) << run.outcome.out;
    EXPECT_FALSE(std::filesystem::exists(run.folder / "out.safetensors"));
    return run.outcome.err;
  };
  EXPECT_THAT(refusal(model("0", "q_proj.lora_B.weight"), {16, 2}),
              HasSubstr("tensor 'model.layers.0.self_attn.q_proj.lora_B.weight' refers to q or k"));
  EXPECT_THAT(refusal(model("0", "q_proj.weight_scale"), {16}), HasSubstr("refers to q or k"));
  EXPECT_THAT(refusal(model("0", "qkv_proj.weight"), {16}),
              HasSubstr("is not known for the model type llama"));
  EXPECT_THAT(refusal("h.0.attn.c_attn.weight", {16}), HasSubstr("c_attn holds columns"));
  EXPECT_THAT(refusal(model("2", "q_proj.weight"), {16, 16}),
              HasSubstr("is of layer 2, but the config has 2 layers"));
  EXPECT_THAT(refusal(model("1", "k_proj.weight"), {16, 16}),
              HasSubstr("must have 8 rows, as the config says, got shape [16, 16]"));
  EXPECT_THAT(refusal(model("1", "k_norm.weight"), {3}),
              HasSubstr("must be [4] or [2, 4], as the config says, got shape [3]"));
  EXPECT_THAT(refusal("visual.blocks.0.attn.qkv.weight", {3},
                      R"({"model_type":"bloom","hidden_size":16,"n_layer":1,"n_head":4})"),
              HasSubstr("must be of a model that rotates, got the model type 'bloom'"));
  Converted none;
  Tensors tensors;
  tensors["visual.blocks.0.attn.qkv.weight"] = counted({3});
  convert(none, tensors, std::string(kLlama) + "}", "--to interleaved");
  EXPECT_THAT(none.outcome.err, HasSubstr("got none with a known name"));
}

}  // namespace
}  // namespace sextant::app_tests
