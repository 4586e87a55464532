// What each layer would write, beside models that really end there; and models without positions.
#include "sextant/models/logit_lens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/core/error.h"
#include "sextant/models/translate.h"

namespace sextant {
namespace {

const std::vector<std::int64_t> kTokens = {3, 1, 4, 1, 5, 6, 2};
const std::vector<std::int64_t> kTarget = {1, 5, 4, 6};

TransformerConfig lens_model(ModelKind kind, bool pre_norm = true) {
  TransformerConfig config{
      .kind = kind, .vocabulary = 7, .width = 8, .heads = 2, .layers = 3, .pre_norm = pre_norm};
  return config;
}

template <class T>
bool equal(const Tensor<T>& a, const Tensor<T>& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.span(), b.span());
}

TEST(LayerLogits, AreThoseOfAModelThatEndsThere) {
  for (const bool pre_norm : {true, false}) {
    for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
      LanguageModel<double> model(lens_model(kind, pre_norm));
      Workspace memory;
      Pass pass{.memory = memory, .threads = 1};
      const auto layers = model.layer_logits(kTokens, pass);
      ASSERT_EQ(layers.size(), 4U);
      for (std::size_t kept = layers.size(); kept-- > 0;) {
        while (model.stack.layers.size() > kept) model.stack.layers.pop_back();
        const TokenBatch batch{kTokens, {0, 7}, std::vector<std::int64_t>(7, -1)};
        const std::vector<std::int64_t> places = {0, 1, 2, 3, 4, 5, 6};
        EXPECT_TRUE(equal(layers[kept], model.logits(batch, places, pass))) << kept << pre_norm;
      }
    }
  }
}

// softmax of the last one is what the loss is made of; the others are those of a shorter decoder.
TEST(LayerLogits, OfATranslatorCountWhatItCopies) {
  for (const bool pointer : {false, true}) {
    TransformerConfig config = lens_model(ModelKind::translator);
    config.pointer = pointer;
    Translator<double> model(config);
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    const auto layers = model.layer_logits(kTokens, kTarget, pass);
    ASSERT_EQ(layers.size(), 4U);
    const PairBatch batch{kTokens, {0, 7}, {kTarget, {0, 4}, {5, 4, 6, 2}}};
    double loss = 0;
    for (std::int64_t row = 0; row < 4; ++row) {
      double total = 0;
      for (std::int64_t token = 0; token < 7; ++token) {
        total += std::exp(layers.back()(row, token));
      }
      if (pointer) {
        EXPECT_NEAR(total, 1, 1e-14);  // probabilities: seven roundings of at most 1
      }
      loss +=
          std::log(total) - layers.back()(row, batch.target.targets[static_cast<std::size_t>(row)]);
    }
    EXPECT_NEAR(loss, model.loss(batch, {}, nullptr, pass).loss,
                1e-13);  // sums of numbers below 10
    for (std::size_t kept = 3; kept-- > 0;) {
      while (model.decoder.layers.size() > kept) model.decoder.layers.pop_back();
      EXPECT_TRUE(equal(layers[kept], model.layer_logits(kTokens, kTarget, pass).back())) << kept;
    }
  }
}

TEST(RemovePositions, LeavesTheModelThatNeverHadAny) {
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  for (const char* scheme : {"sinusoidal", "learned", "rotary", "alibi", "t5", "shaw"}) {
    TransformerConfig config = lens_model(ModelKind::causal);
    config.schemes = {scheme};
    LanguageModel<double> model(config);
    config.schemes = {"none"};
    const LanguageModel<double> never(config);
    EXPECT_FALSE(
        equal(model.layer_logits(kTokens, pass).back(), never.layer_logits(kTokens, pass).back()))
        << scheme;
    model.replace_schemes({"none"});
    EXPECT_EQ(names_of(model.config.schemes), "none");
    EXPECT_TRUE(
        equal(model.layer_logits(kTokens, pass).back(), never.layer_logits(kTokens, pass).back()))
        << scheme;
  }
}

TEST(RemovePositions, TakesThemFromBothSidesOfATranslator) {
  TransformerConfig config = lens_model(ModelKind::translator);
  Translator<double> model(config);
  config.schemes = {"none"};
  const Translator<double> never(config);
  model.replace_schemes({"none"});
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  EXPECT_TRUE(equal(model.layer_logits(kTokens, kTarget, pass).back(),
                    never.layer_logits(kTokens, kTarget, pass).back()));
}

TEST(MostProbable, SortsAsSoftmaxDoes) {
  const std::vector<float> logits = {1, 3, -2, 3, 0};
  double total = 0;
  for (const float value : logits) total += std::exp(static_cast<double>(value));
  const auto three = most_probable(logits, 3);
  ASSERT_EQ(three.size(), 3U);
  const std::int64_t tokens[] = {1, 3, 0};  // of equal ones the lower first
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(three[i].token, tokens[i]);
    const double logit = logits[static_cast<std::size_t>(tokens[i])];
    EXPECT_NEAR(three[i].probability, std::exp(logit) / total, 1e-15);  // a few roundings below 1
  }
  EXPECT_EQ(most_probable(logits, 99).size(), 5U);
  EXPECT_THROW(most_probable(logits, 0), Error);
}

TextModel of_letters(const std::string& letters) {
  return {lens_model(ModelKind::causal),
          Tokenizer::train(std::vector<std::string>{letters}, {.kind = TokenizerKind::character})};
}

TEST(LogitLens, SayWhatComesNextAndHowProbableItIs) {
  const TextModel model = of_letters("abc");
  const LogitLens found = logit_lens(model, "abca", {.top_k = 2});
  EXPECT_EQ(found.read, model.tokenizer.encode("abca"));
  const auto tokens = model.tokenizer.encode("bca");
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), found.next.begin()));
  EXPECT_EQ(found.next.back(), -1);
  ASSERT_EQ(found.predictions.size(), 4U);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const auto layers = model.layer_logits(found.read, pass);
  for (std::size_t layer = 0; layer < 4; ++layer) {
    for (std::int64_t row = 0; row < 4; ++row) {
      const auto at = static_cast<std::size_t>(row);
      ASSERT_EQ(found.predictions[layer][at].size(), 2U);
      double total = 0;
      for (std::int64_t token = 0; token < layers[layer].size(1); ++token) {
        total += std::exp(static_cast<double>(layers[layer](row, token)));
      }
      const double expected =
          row == 3 ? 0 : std::exp(static_cast<double>(layers[layer](row, found.next[at]))) / total;
      EXPECT_NEAR(found.next_probability[layer][at], expected, 1e-14);
    }
  }
}

TEST(LogitLens, OfATranslatorFollowItsOwnTranslation) {
  const TextTranslator model(
      lens_model(ModelKind::translator),
      Tokenizer::train(std::vector<std::string>{"abc"}, {.kind = TokenizerKind::character}));
  const LogitLens found = logit_lens(model, "cab");
  const std::vector<std::vector<std::int64_t>> sources = {model.tokenizer.encode("cab")};
  auto tokens = translate(model, sources)[0][0].tokens;
  EXPECT_EQ(found.read.size(), tokens.size() + 1);
  EXPECT_EQ(found.read.front(), Tokenizer::kBos);
  tokens.push_back(Tokenizer::kEos);
  EXPECT_EQ(found.next, tokens);
  const LogitLens given = logit_lens(model, "cab", std::string("ba"));
  EXPECT_EQ(given.next.size(), 3U);
}

TEST(LogitLens, RefusesWhatItCannotShow) {
  const TextModel model = of_letters("abc");
  EXPECT_THROW(logit_lens(model, ""), Error);
  EXPECT_THROW(logit_lens(model, std::string(kMaxLensTokens + 1, 'a')), Error);
  EXPECT_THROW(logit_lens(model, "a", {.top_k = 0}), Error);
  EXPECT_THROW(logit_lens(model, "a", {.threads = -1}), Error);
}

}  // namespace
}  // namespace sextant
