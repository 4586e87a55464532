// Models written as folders of the hub: what was read is written again, and our own models are read
// back as what they are.
#include "sextant/hub/save_pretrained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "hub/golden_model.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string text_of(const std::string& folder, const char* file) {
  return read_file(folder + "/" + file, 1 << 24);
}

class GoldenFolder : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenFolder, IsWrittenAsItWasRead) {
  const std::string source = golden_folder(GetParam());
  const TemporaryFolder place;
  const std::string folder = place / "written";
  const auto model = load_pretrained(source);
  save_pretrained(model, folder, {.like = source});
  EXPECT_EQ(text_of(folder, "config.json"), text_of(source, "config.json"));
  const auto wanted = load_safetensors(TensorFile::open(source)).tensors;
  const auto got = load_safetensors(TensorFile::open(folder)).tensors;
  for (const auto& [name, array] : got) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(wanted.contains(name));
    EXPECT_EQ(array.shape, wanted.at(name).shape);
  }
  // What is not there again is not read: poolers, buffers, a tied head.
  const auto again = load_pretrained(folder);
  EXPECT_EQ(format_config(again.config), format_config(model.config));
  const auto ours = model.parameters(), theirs = again.parameters();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    SCOPED_TRACE(ours[i].name);
    for (std::int64_t k = 0; k < ours[i].tensor->count(); ++k) {
      // Factors and gains that are stored less one are rounded.
      ASSERT_NEAR(ours[i].tensor->data()[k], theirs[i].tensor->data()[k],
                  std::abs(ours[i].tensor->data()[k]) * 0x1p-23 + 0x1p-24);
    }
  }
}

std::vector<std::string> golden_folders() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(tests::data_folder() + "/hub/golden")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name.starts_with("deberta"))
      continue;  // whose tables are computed
    const Json config = Json::parse_object(text_of(entry.path(), "config.json"), name);
    if (!config.contains("is_encoder_decoder") || config["is_encoder_decoder"] != Json(true)) {
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, GoldenFolder, ::testing::ValuesIn(golden_folders()),
                         [](const auto& each) { return each.param; });

// What is written without `like`: its own config.json, of the same model type.
class WrittenType : public ::testing::TestWithParam<const char*> {};

TEST_P(WrittenType, HasAConfigOfItsOwn) {
  const std::string source = golden_folder(GetParam());
  const TemporaryFolder place;
  const auto model = load_pretrained(source);
  const std::string type =
      Json::parse_object(text_of(source, "config.json"), "config")["model_type"].text();
  EXPECT_EQ(save_pretrained(model, place / "a", {.model_type = type}).model_type, type);
  const auto again = load_pretrained(place / "a");
  const std::vector<std::int64_t> ids = {5, 7, 11, 2, 30, 9};
  Workspace memory;
  Pass pass{memory};
  const auto wanted = model.hidden_states(ids, pass), got = again.hidden_states(ids, pass);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(wanted[i].span(), got[i].span())) << i;
  }
  EXPECT_EQ(again.config.logits, model.config.logits);
}
INSTANTIATE_TEST_SUITE_P(Families, WrittenType,
                         ::testing::Values("llama", "llama_bias", "mistral", "qwen2", "qwen3",
                                           "gpt2", "gpt_neox", "gpt_neox_series", "opt", "opt_post",
                                           "bloom", "mpt", "bert", "bert_masked"),
                         [](const auto& each) { return std::string(each.param); });

// A model as `sextant train` makes it, whose logits have to be those of what is written.
TransformerConfig small(ModelKind kind = ModelKind::causal) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 23;
  config.width = 24;  // whose root is no power of two
  config.heads = 4;
  config.layers = 2;
  config.length = 32;
  return config;
}

std::vector<float> logits_of(const LanguageModel<float>& model) {
  const std::vector<std::int64_t> ids = {5, 7, 11, 2, 20, 9};
  std::vector<std::int64_t> places(ids.size());
  std::iota(places.begin(), places.end(), 0);
  Workspace memory;
  Pass pass{memory};
  const auto logits = model.logits(TokenBatch::of(ids), places, pass);
  return {logits.span().begin(), logits.span().end()};
}

void expect_equal_logits(const TransformerConfig& config, const std::string& type) {
  SCOPED_TRACE(label_of(config.schemes));
  const TemporaryFolder place;
  const LanguageModel<float> model(config);
  EXPECT_EQ(save_pretrained(model, place / "a").model_type, type);
  const auto wanted = logits_of(model), got = logits_of(load_pretrained(place / "a"));
  ASSERT_EQ(got.size(), wanted.size());
  // Of the rows of the embedding each number is rounded once more.
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 64 * 0x1p-23);
}

TEST(SavePretrained, OfOurOwnModels) {
  TransformerConfig config = small();
  config.schemes = {{"rotary", {{"base", "5000"}}}};
  expect_equal_logits(config, "gpt_neox");
  config.schemes = {"learned"};
  expect_equal_logits(config, "gpt2");
  config.schemes = {"sinusoidal"};
  expect_equal_logits(config, "gpt2");
  config.schemes = {"none"};
  expect_equal_logits(config, "gpt2");
  config.activation = Activation::swiglu;
  config.norm = NormKind::rms;
  config.bias = false;
  config.kv_heads = 2;
  config.schemes = {{"rotary_yarn", {{"factor", "2"}, {"original_length", "16"}}}};
  expect_equal_logits(config, "llama");
  config.qkv_bias = true;
  expect_equal_logits(config, "qwen2");
  config.qkv_bias = false;
  config.schemes = {"rotary", {"window", {{"left", "3"}}}};
  expect_equal_logits(config, "mistral");
  TransformerConfig alibi = small();
  alibi.schemes = {"alibi"};
  alibi.bias = false;
  expect_equal_logits(alibi, "mpt");
}

TEST(SavePretrained, NamesWhatNoModelTypeHas) {
  const TemporaryFolder place;
  TransformerConfig config = small();
  config.schemes = {"t5"};
  EXPECT_THAT([&] { save_pretrained(LanguageModel<float>(config), place / "a"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("[save_pretrained.model]"),
                                         HasSubstr("schemes must be"), HasSubstr("t5"))));
  config.schemes = {"rotary"};
  const LanguageModel<float> model(config);
  EXPECT_THAT([&] { save_pretrained(model, place / "a", {.model_type = "llama"}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("of a model that llama has:"),
                                         HasSubstr("norm must be \"rms\", got \"layer\""))));
  EXPECT_THAT([&] { save_pretrained(model, place / "a", {.model_type = "gptx"}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("[save_pretrained.model_type]"),
                                         HasSubstr("gpt_neox"), HasSubstr("gptx"))));
  EXPECT_THAT([&] { save_pretrained(model, place / "a", {.like = golden_folder("gptj")}); },
              ThrowsMessage<Error>(HasSubstr("of a model that gptj has:")));
  EXPECT_THAT([&] { save_pretrained(model, place / "a", {.dtype = DType::float64}); },
              ThrowsMessage<Error>(HasSubstr("[save_pretrained.dtype]")));
  EXPECT_FALSE(std::filesystem::exists(place / "a"));
  save_pretrained(model, place / "a");
  EXPECT_THAT([&] { save_pretrained(model, place / "a"); },
              ThrowsMessage<Error>(HasSubstr("does not exist yet")));
}

TEST(SavePretrained, RefusesWhatWasComputedWhenItWasRead) {
  const TemporaryFolder place;
  const std::string source = golden_folder("deberta_v2");
  EXPECT_THAT([&] { save_pretrained(load_pretrained(source), place / "a", {.like = source}); },
              ThrowsMessage<Error>(HasSubstr("which is computed when this model type is read")));
  EXPECT_FALSE(std::filesystem::exists(place / "a"));
}

TEST(SavePretrained, RoundsToSixteenBits) {
  const TemporaryFolder place;
  const LanguageModel<float> model(small());
  save_pretrained(model, place / "a", {.dtype = DType::bfloat16});
  const TensorFile file = TensorFile::open(place / "a");
  for (const StoredTensor& each : file.tensors()) EXPECT_EQ(each.dtype, DType::bfloat16);
  const auto again = load_pretrained(place / "a");
  const auto wanted = model.parameters(), got = again.parameters();
  ASSERT_EQ(got.size(), wanted.size() + 1);  // the logits have a matrix of their own, at the end
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got[i].name, wanted[i].name);
    if (got[i].name == "embedding.weight") continue;  // has the factor
    ASSERT_EQ(got[i].tensor->shape(), wanted[i].tensor->shape());
    for (std::int64_t k = 0; k < got[i].tensor->count(); ++k) {
      ASSERT_EQ(got[i].tensor->data()[k],
                static_cast<float>(bfloat16(wanted[i].tensor->data()[k])));
    }
  }
}

TEST(SavePretrained, WritesTokenizersThatSayTheSame) {
  const std::vector<std::string> texts = {"The cat sat.\nThe dog ran\u00e9.", "a  b\tc"};
  for (const TokenizerTraining& training :
       {TokenizerTraining{.kind = TokenizerKind::character, .split_punctuation = true},
        TokenizerTraining{.kind = TokenizerKind::word, .lower_case = true}}) {
    const Tokenizer tokenizer = Tokenizer::train(texts, training);
    TransformerConfig config = small();
    config.vocabulary = tokenizer.size();
    const TemporaryFolder place;
    EXPECT_TRUE(save_pretrained(TextModel(config, tokenizer), place / "a").tokenizer);
    const TextModel again = TextModel::load(open_model(place / "a"));
    for (const std::string text : {"The cat ran.", "the\n\ncat \u00e9\t?", "", "cat\n"}) {
      EXPECT_EQ(again.tokenizer.encode(text), tokenizer.encode(text)) << text;
    }
    EXPECT_EQ(again.tokenizer.special().ends, tokenizer.special().ends);
    EXPECT_EQ(again.tokenizer.special().pad, Tokenizer::kPad);
  }
  const Tokenizer words = Tokenizer::train(texts, {.split_punctuation = true});
  TransformerConfig config = small();
  config.vocabulary = words.size();
  const TemporaryFolder place;
  EXPECT_FALSE(save_pretrained(TextModel(config, words), place / "a").tokenizer);
  EXPECT_FALSE(std::filesystem::exists(place / "a/tokenizer.json"));
}

}  // namespace
}  // namespace sextant
