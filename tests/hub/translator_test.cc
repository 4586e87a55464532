// Encoders and decoders of the hub against what transformers computes of them in float64
// (tests/hub/golden/make_golden.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hub/expected.h"
#include "hub/golden_model.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/models/translate.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void expect_states(const std::vector<Tensor<float>>& got, const Tensor<double>& wanted,
                   const TransformerConfig& config) {
  ASSERT_EQ(std::ssize(got), wanted.size(0));
  const auto count = static_cast<std::size_t>(wanted.count() / wanted.size(0));
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("after layer " + std::to_string(i));
    expect_near(got[i].span(), wanted.span().subspan(i * count, count), config);
  }
}

void expect_translator(const std::string& name, const Translator<float>& model) {
  const Expected expected(name);
  const auto source = expected.integers("ids"), target = expected.integers("target");
  Workspace memory;
  Pass pass{memory};
  const auto states = model.hidden_states(source, target, pass);
  expect_states(states.encoder, expected.numbers("encoder"), model.config);
  expect_states(states.decoder, expected.numbers("decoder"), model.config);
  const auto logits = model.layer_logits(source, target, pass);
  const auto wanted = expected.numbers("logits");
  expect_near(logits.back().span(), wanted.span(), model.config);
}

class PretrainedTranslator : public ::testing::TestWithParam<const char*> {};

TEST_P(PretrainedTranslator, IsWhatTransformersComputes) {
  expect_translator(GetParam(), load_pretrained_translator(golden_folder(GetParam())));
}

// With a cache, from the tokens that begin a target on.
TEST_P(PretrainedTranslator, WritesTheSameTokens) {
  const Expected expected(GetParam());
  const auto model = load_pretrained_translator(golden_folder(GetParam()));
  const std::vector<std::vector<std::int64_t>> sources = {expected.integers("ids")};
  const std::vector<std::int64_t> never = {model.config.target_end};
  const auto found =
      translate(model, sources,
                {.search = {.beams = 1}, .length_factor = 0, .extra_tokens = 64, .never = never});
  EXPECT_EQ(found.at(0).at(0).tokens, expected.integers("greedy"));
}

INSTANTIATE_TEST_SUITE_P(Families, PretrainedTranslator,
                         ::testing::Values("bart", "marian", "mbart", "mt5", "pegasus", "t5",
                                           "t5_gated"),
                         [](const auto& each) { return std::string(each.param); });

TEST(PretrainedTranslatorConfig, SaysWhichTokensAreAroundTargets) {
  const auto ends = [](const std::string& folder) {
    const auto config = load_pretrained_translator(folder).config;
    auto all = config.target_start;
    all.push_back(config.target_end);
    return all;
  };
  EXPECT_THAT(ends(golden_folder("marian")), ElementsAre(47, 0));
  EXPECT_THAT(ends(golden_folder("bart")), ElementsAre(2, 5, 2));
  EXPECT_THAT(ends(golden_folder("t5")), ElementsAre(0, 1));
  ChangedModel t5("t5");
  t5.config["decoder_start_token_id"] = 3;
  t5.config["eos_token_id"] = Json::array({4});
  EXPECT_THAT(ends(t5.write()), ElementsAre(3, 4));
  t5.config.erase("decoder_start_token_id");
  EXPECT_THAT(ends(t5.write()), ElementsAre(0, 4));
  const auto refuse = [&t5](const char* why) {
    EXPECT_THAT([&] { load_pretrained_translator(t5.write()); },
                ThrowsMessage<Error>(HasSubstr(why)));
  };
  t5.config["eos_token_id"] = Json::array({1, 2});
  refuse("eos_token_id");
  t5.config["eos_token_id"] = 48;
  refuse("target_end");
}

TEST(PretrainedTranslatorConfig, IsRefusedWhereStacksHaveMoreThanLayersOfTheirOwn) {
  struct Case {
    const char *name, *key;
    Json value;
  };
  for (const auto& [name, key, value] :
       std::vector<Case>{{"bart", "decoder_attention_heads", 2},
                         {"bart", "decoder_ffn_dim", 24},
                         {"bart", "tie_word_embeddings", false},
                         {"bart", "is_encoder_decoder", false},
                         {"marian", "share_encoder_decoder_embeddings", false},
                         {"marian", "decoder_vocab_size", 50},
                         {"marian", "activation_function", "quick_gelu"},
                         {"t5", "feed_forward_proj", "gated-relu"},
                         {"t5", "quantization_config", Json::object()}}) {
    SCOPED_TRACE(key);
    ChangedModel model(name);
    model.config[key] = value;
    const std::string folder = model.write();
    const std::string wanted = std::string(key) == "decoder_vocab_size" ? "vocab_size" : key;
    EXPECT_THAT([&] { load_pretrained_translator(folder); },
                ThrowsMessage<Error>(HasSubstr(wanted)));
  }
}

TEST(PretrainedTranslatorHead, IsOfTheFileWhereItHasOne) {
  ChangedModel gated("t5_gated");  // as FLAN-T5's files are
  gated.config["tie_word_embeddings"] = false;
  gated.config.erase("scale_decoder_outputs");
  expect_translator("t5_gated", load_pretrained_translator(gated.write()));
  gated.tensors.erase("lm_head.weight");
  EXPECT_TRUE(load_pretrained_translator(gated.write()).config.tied);
  ChangedModel marian("marian");
  marian.tensors["lm_head.weight"] = zeros({48, 16});
  EXPECT_THAT([&] { load_pretrained_translator(marian.write()); },
              ThrowsMessage<Error>(HasSubstr("lm_head.weight equal to model.shared.weight")));
}

TEST(PretrainedTranslatorNames, OfCopiesAndTablesAreKnown) {
  ChangedModel marian("marian"), t5("t5");
  marian.rename_beginnings("model.", "");
  marian.tensors["encoder.embed_tokens.weight"] =
      std::move(ChangedModel("marian").tensors.at("model.shared.weight"));
  marian.tensors["decoder.embed_positions.weight"] = zeros({80, 16});
  t5.tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] =
      zeros({8, 4});
  expect_translator("marian", load_pretrained_translator(marian.write()));
  expect_translator("t5", load_pretrained_translator(t5.write()));
  t5.tensors["encoder.embed_tokens.weight"] = zeros({48, 16});
  EXPECT_THAT([&] { load_pretrained_translator(t5.write()); },
              ThrowsMessage<Error>(HasSubstr("encoder.embed_tokens.weight equal to shared")));
}

TEST(PretrainedTranslatorHead, HasNoBiasWhereTheFileHasNone) {
  ChangedModel bart("bart");
  bart.tensors.erase("final_logits_bias");
  const auto model = load_pretrained_translator(bart.write());
  EXPECT_TRUE(std::ranges::all_of(model.output_bias.span(), [](float x) { return x == 0; }));
}

TEST(PretrainedTranslatorNames, AreNotThoseOfALanguageModel) {
  EXPECT_THAT([] { load_pretrained(golden_folder("t5")); },
              ThrowsMessage<Error>(HasSubstr("load_pretrained_translator()")));
  EXPECT_THAT([] { load_pretrained_translator(golden_folder("gpt2")); },
              ThrowsMessage<Error>(HasSubstr("got a causal language model")));
  ChangedModel t5("t5");
  const std::string lost = "decoder.block.2.layer.1.EncDecAttention.v.weight";
  t5.tensors.erase(lost);
  EXPECT_THAT([&] { load_pretrained_translator(t5.write()); },
              ThrowsMessage<Error>(HasSubstr("must hold the tensor " + lost)));
}

}  // namespace
}  // namespace sextant
