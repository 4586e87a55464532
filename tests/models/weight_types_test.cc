// Models with matrices of 16 bits: what they compute, how exact it is, what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "kernels/rotate/every_target.h"
#include "models/rounded_weights.h"
#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"
#include "sextant/models/generate.h"
#include "sextant/models/text_model.h"
#include "sextant/models/translate.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sextant::weight_types_test {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr WeightType kNarrow[] = {WeightType::bfloat16, WeightType::float16};

std::string stored(const char* name) { return tests::data_folder() + "/models/stored/" + name; }

TextModel load(const std::string& path, WeightType dtype) {
  ModelFolder folder = open_model_folder(path);
  folder.dtype = dtype;
  return TextModel::load(folder);
}

bool same(const Tensor<float>& a, const Tensor<float>& b) {
  return std::ranges::equal(a.span(), b.span());
}

// A model with every kind of matrix: an output of its own, gates, grouped heads, learned positions.
TransformerConfig config() {
  TransformerConfig config;
  config.width = 24;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.length = 40;
  config.vocabulary = 70;
  config.tied = false;
  config.activation = Activation::swiglu;
  config.schemes = {"learned", "rotary"};
  return config;
}

template <class Model>
Model loaded(const std::string& file, const TransformerConfig& config, WeightType dtype) {
  return make_loaded(
      TensorFile::open(file), [&](UnsetWeights unset) { return Model(config, unset); }, nullptr,
      dtype);
}

TEST(WeightTypes, HaveTheBitsOfRoundedFloatsOnEveryTarget) {
  const TemporaryFolder folder;
  const std::string file = folder / "model.safetensors";
  save_parameters(file, LanguageModel<float>(config()).parameters());
  std::vector<std::int64_t> tokens(30);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int64_t>(i * 7 % 70);
  TokenBatch batch = TokenBatch::of(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) batch.targets[i] = tokens[(i + 1) % 30];
  for (const WeightType dtype : kNarrow) {
    const auto narrow = loaded<LanguageModel<float>>(file, config(), dtype);
    auto wide = loaded<LanguageModel<float>>(file, config(), WeightType::float32);
    ASSERT_EQ(round_like(narrow, wide), 2 + 2 * 4) << name_of(dtype);
    on_every_target([&] {
      Workspace memory;
      Pass pass{.memory = memory, .threads = 2};
      for (const std::int64_t count : {1, 5, 30}) {  // of few rows, and of more
        const TokenBatch some = TokenBatch::of(std::span(tokens).first(count));
        EXPECT_TRUE(same(narrow.logits(some, std::vector{count - 1}, pass),
                         wide.logits(some, std::vector{count - 1}, pass)))
            << count;
      }
      const auto a = narrow.log_likelihoods(batch, pass), b = wide.log_likelihoods(batch, pass);
      EXPECT_TRUE(std::ranges::equal(a.span(), b.span()));
      EXPECT_EQ(narrow.loss(batch, {}, nullptr, pass).loss,
                wide.loss(batch, {}, nullptr, pass).loss);
      const GenerateOptions options{.max_tokens = 20, .seed = 3};
      const std::span prompt = std::span(tokens).first(4);
      EXPECT_EQ(generate(narrow, prompt, options).tokens, generate(wide, prompt, options).tokens);
    });
  }
}

TEST(WeightTypes, OfTranslatorsHaveTheBitsOfRoundedFloats) {
  const TemporaryFolder folder;
  const std::string file = folder / "model.safetensors";
  TransformerConfig pairs = config();
  pairs.kind = ModelKind::translator;
  pairs.pointer = true;
  pairs.tied = true;
  pairs.activation = Activation::relu;
  save_parameters(file, Translator<float>(pairs).parameters());
  for (const WeightType dtype : kNarrow) {
    const auto narrow = loaded<Translator<float>>(file, pairs, dtype);
    auto wide = loaded<Translator<float>>(file, pairs, WeightType::float32);
    // The embedding, 4 maps of each of 2 encoder layers, 6 of decoder layers, 3 of the pointer.
    ASSERT_EQ(round_like(narrow, wide), 1 + 2 * 4 + 2 * 6 + 3);
    const std::vector<std::vector<std::int64_t>> sources = {{5, 9, 30}, {7, 8, 9, 10, 11, 12}};
    const auto a = translate(narrow, sources), b = translate(wide, sources);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(a[i][0].tokens, b[i][0].tokens);
      EXPECT_EQ(a[i][0].log_probability, b[i][0].log_probability);
    }
  }
}

// docs/generation.md has these figures.
TEST(WeightTypes, CostLittleAccuracy) {
  const auto nats = [](WeightType dtype) {
    const TextModel model = load(stored("post_norm"), dtype);
    const auto tokens = model.tokenizer.encode("the cat sat on the mat and the cat sat");
    TokenBatch batch = TokenBatch::of(tokens);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) batch.targets[i] = tokens[i + 1];
    Workspace memory;
    Pass pass{.memory = memory};
    const LossSum sum = model.loss(batch, {}, nullptr, pass);
    return sum.loss / static_cast<double>(sum.tokens);
  };
  const double exact = nats(WeightType::float32);
  RecordProperty("float32", std::to_string(exact));
  RecordProperty("bfloat16", std::to_string(nats(WeightType::bfloat16)));
  RecordProperty("float16", std::to_string(nats(WeightType::float16)));
  EXPECT_NEAR(nats(WeightType::bfloat16), exact, 0.003);
  EXPECT_NEAR(nats(WeightType::float16), exact, 0.0003);
  EXPECT_NE(nats(WeightType::bfloat16), exact);
}

TEST(WeightTypes, AreRefusedByTrainingAndSaving) {
  const TemporaryFolder folder;
  const auto refused = [](const char* type) {
    return ThrowsMessage<Error>(HasSubstr(
        std::string("[model.dtype] must be float32 to train, save or change weights, got ") +
        type));
  };
  for (const WeightType dtype : kNarrow) {
    const std::string type(name_of(dtype));
    TextModel model = load(stored("first"), dtype);
    EXPECT_THAT([&] { model.save(folder / "saved"); }, refused(type.c_str()));
    EXPECT_FALSE(std::filesystem::exists(folder / "saved/model.safetensors"));
    EXPECT_THAT([&] { model.embedding.table().span(); }, refused(type.c_str()));
    Workspace memory;
    Pass pass{.memory = memory};
    TextModel gradient(model.config, model.tokenizer);
    const TokenBatch batch{{4, 5, 6}, {0, 3}, {5, 6, 7}};
    EXPECT_THAT([&] { model.loss(batch, {}, &gradient, pass); }, refused(type.c_str()));
  }
}

TEST(WeightTypes, RefuseNumbersThatTheyDoNotHave) {
  const TemporaryFolder folder;
  std::filesystem::copy(stored("first"), folder / "model");
  SafetensorsFile file = load_safetensors(folder / "model/model.safetensors");
  Array& embedding = file.tensors.at("embedding.weight");
  ASSERT_EQ(embedding.dtype, DType::float32);
  reinterpret_cast<float*>(embedding.bytes.data())[3] = 70000;
  save_safetensors(folder / "model/model.safetensors", file.tensors);
  EXPECT_NO_THROW(load(folder / "model", WeightType::bfloat16));
  EXPECT_THAT([&] { load(folder / "model", WeightType::float16); },
              ThrowsMessage<Error>(HasSubstr(
                  "must hold finite numbers in float16, got others in embedding.weight")));
}

}  // namespace sextant::weight_types_test
