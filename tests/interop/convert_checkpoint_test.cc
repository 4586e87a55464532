// Whole checkpoints from one layout to the other.
#include "sextant/interop/convert_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "sextant/core/error.h"
#include "sextant/interop/convert_rotary.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  return a.shape == b.shape && std::memcmp(a.bytes.data(), b.bytes.data(),
                                           static_cast<std::size_t>(a.bytes.count())) == 0;
}

// 4 heads of q, 2 of k, 4 channels each; three layers.
ModelConfig llama() {
  return parse_model_config(
      R"({"model_type":"llama","hidden_size":16,"num_hidden_layers":3,"num_attention_heads":4,)"
      R"("num_key_value_heads":2,"max_position_embeddings":64})");
}

SafetensorsFile checkpoint() {
  SafetensorsFile file;
  for (const char* layer : {"0", "2"}) {
    const std::string at = std::string("layers.") + layer + ".self_attn.";
    file.tensors[at + "q_proj.weight"] = counted({16, 16});
    file.tensors[at + "k_proj.weight"] = counted({8, 16});
    file.tensors[at + "v_proj.weight"] = counted({8, 16});
  }
  return file;
}

std::string refusal(SafetensorsFile file, const CheckpointConversion& options,
                    const ModelConfig& config = llama()) {
  return error_of([&] { convert_checkpoint(file, config, options); });
}

TEST(ConvertCheckpoint, PermutesQAndKAndSaysWhatItDid) {
  SafetensorsFile file = checkpoint();
  const ConvertedCheckpoint done =
      convert_checkpoint(file, llama(), {.to = RotaryLayout::interleaved});
  EXPECT_THAT(done.tensors,
              ElementsAre("layers.0.self_attn.k_proj.weight", "layers.0.self_attn.q_proj.weight",
                          "layers.2.self_attn.k_proj.weight", "layers.2.self_attn.q_proj.weight"));
  EXPECT_THAT(done.layers, ElementsAre(0, 2));
  EXPECT_THAT(done.missing, ElementsAre(1));
  EXPECT_FALSE(done.has_layout_tag);
  EXPECT_EQ(done.default_layout, RotaryLayout::half_split);
  EXPECT_EQ(file.metadata.at("rotary_layout"), "interleaved");
  Array q = counted({16, 16});
  to_interleaved(q, {4});
  EXPECT_TRUE(same(file.tensors.at("layers.2.self_attn.q_proj.weight"), q));
  EXPECT_TRUE(same(file.tensors.at("layers.0.self_attn.v_proj.weight"), counted({8, 16})));
}

TEST(ConvertCheckpoint, ThereAndBackIsTheSame) {
  SafetensorsFile file = checkpoint();
  convert_checkpoint(file, llama(), {.to = RotaryLayout::interleaved});
  EXPECT_TRUE(convert_checkpoint(file, llama(), {.to = RotaryLayout::half_split}).has_layout_tag);
  for (const auto& [name, array] : checkpoint().tensors) {
    EXPECT_TRUE(same(file.tensors.at(name), array)) << name;
  }
}

TEST(ConvertCheckpoint, TakesOtherNames) {
  SafetensorsFile file;
  file.tensors["layers.1.attn.to_queries.bias"] = counted({16});
  const auto names = parse_module_names("q=attn.to_queries,k_norm=scale", "names");
  convert_checkpoint(file, llama(), {.to = RotaryLayout::interleaved, .names = names});
  Array wanted = counted({16});
  to_interleaved(wanted, {4});
  EXPECT_TRUE(same(file.tensors.begin()->second, wanted));
  EXPECT_THROW(parse_module_names("query=x", "names"), Error);
  EXPECT_THROW(parse_module_names("q=", "names"), Error);
}

TEST(ConvertCheckpoint, RefusesWhatItWouldMakeWrong) {
  const CheckpointConversion to{.to = RotaryLayout::interleaved};
  SafetensorsFile marked = checkpoint();
  marked.metadata["rotary_layout"] = "interleaved";
  EXPECT_THAT(refusal(std::move(marked), to), HasSubstr("is interleaved already"));
  SafetensorsFile other = checkpoint();
  other.metadata["rotary_layout"] = "both\n";
  EXPECT_THAT(refusal(std::move(other), to), HasSubstr("got 'both\\n'"));
  SafetensorsFile unknown = checkpoint();
  unknown.tensors["layers.0.attention.query.weight"] = counted({16, 16});
  EXPECT_THAT(refusal(std::move(unknown), to), HasSubstr("refers to q or k, but is not known"));
  SafetensorsFile few = checkpoint();
  few.tensors["layers.0.self_attn.q_proj.weight"] = counted({12, 16});
  EXPECT_THAT(refusal(std::move(few), to), HasSubstr("must have 16 rows, as the config says"));
  EXPECT_THAT(refusal({}, to), HasSubstr("[convert_checkpoint.checkpoint] must have projections"));
  EXPECT_THAT(refusal(checkpoint(), to,
                      parse_model_config(
                          R"({"model_type":"bloom","hidden_size":16,"n_layer":1,"n_head":4})")),
              HasSubstr("[convert_checkpoint.config] must be of a model that rotates"));
}

}  // namespace
}  // namespace sextant
