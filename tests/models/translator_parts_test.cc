// Translators with the parts that published ones have: ends of targets, positions of each stack,
// what makes their logits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/tiny_model.h"
#include "sextant/models/translate.h"

namespace sextant {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;
using Tokens = std::vector<std::int64_t>;

TransformerConfig of_t5() {
  TransformerConfig config = tiny(ModelKind::translator);
  config.encoder_layers = 2;
  config.norm = NormKind::rms;
  config.norm_epsilon = 0.1;  // as in model_parts_test.cc
  config.activation = Activation::geglu_tanh;
  config.bias = false;
  config.attention_scale = 1;
  config.schemes = {{"t5", {{"num_buckets", "4"}, {"max_distance", "5"}}}};
  config.decoder_schemes = config.schemes;
  config.decoder_schemes[0].parameters["bidirectional"] = "no";
  config.logits_scale = 0.4;
  return config;
}

TransformerConfig of_bart() {
  TransformerConfig config = tiny(ModelKind::translator);
  config.norm_epsilon = 0.1;
  config.pre_norm = config.final_norm = false;
  config.embedding_norm = true;
  config.schemes = {"learned"};
  config.logits_bias = true;
  config.logits_softcap = 2;
  config.target_start = {4, 7};
  config.target_end = 9;
  return config;
}

TEST(TranslatorParts, HaveTheirGradients) {
  TransformerConfig t5 = of_t5();  // biases by distance are too coarse for differences
  t5.schemes = {"learned"};
  t5.decoder_schemes = {"shaw"};
  for (const TransformerConfig& config : {t5, of_bart()}) {
    SCOPED_TRACE(config.schemes[0].scheme);
    expect_model_gradients<Translator<double>>(
        config, PairBatch{{4, 7, 2, 5, 2, 7}, {0, 3, 6}, two_sentences()});
  }
}

TEST(TranslatorParts, ComeBackFromTheirJson) {
  for (const TransformerConfig& config : {of_t5(), of_bart()}) {
    const std::string json = format_config(config);
    const TransformerConfig read = parse_config(json);
    EXPECT_EQ(format_config(read), json);
    EXPECT_EQ(read.target_start, config.target_start);
    EXPECT_EQ(read.target_end, config.target_end);
    EXPECT_EQ(read.decoder_schemes, config.decoder_schemes);
  }
}

TEST(TranslatorParts, GiveEachStackItsPositions) {
  Translator<double> model(of_t5());
  EXPECT_EQ(model.decoder_positions.options().schemes, model.config.decoder_schemes);
  EXPECT_EQ(model.encoder_positions.options().schemes, model.config.schemes);
  model.replace_schemes({"none"});
  EXPECT_TRUE(model.config.decoder_schemes.empty());
  EXPECT_EQ(model.decoder_positions.options().schemes, SchemeSpecs{"none"});
}

// The most probable tokens, each found by reading all before it at once.
Tokens written(const Translator<float>& model, const Tokens& source, std::size_t count,
               std::int64_t never) {
  Tokens made;
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  while (made.size() < count) {
    const auto layers = model.layer_logits(source, model.decoder_input(made), pass);
    const Tensor<float>& logits = layers.back();
    const float* line = &logits(logits.size(0) - 1, 0);
    std::int64_t best = never == 0 ? 1 : 0;
    for (std::int64_t t = 0; t < logits.size(1); ++t) {
      if (t != never && line[t] > line[best]) best = t;
    }
    made.push_back(best);
  }
  return made;
}

TEST(TranslatorParts, BeginTargetsAsTheConfigSays) {
  const Translator<float> model(of_bart());
  const std::vector<Tokens> sources = {{3, 5, 8}, {6, 2}};
  const auto found = translate(model, sources,
                               {.search = {.beams = 1},
                                .length_factor = 0,
                                .extra_tokens = 5,
                                .never = Tokens{model.config.target_end}});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(found[i][0].tokens, written(model, sources[i], 5, model.config.target_end));
  }
}

TEST(TranslatorParts, ScoreTargetsBehindWhatTheyBeginWith) {
  const Translator<float> model(of_bart());
  const std::vector<Tokens> sources = {{3, 5, 8}, {6, 2}}, targets = {{5, 6}, {8, 8, 3}};
  PairBatch batch{{3, 5, 8, 6, 2},
                  {0, 3, 5},
                  {{4, 7, 5, 6, 4, 7, 8, 8, 3}, {0, 4, 9}, {-1, 5, 6, 9, -1, 8, 8, 3, 9}}};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const LossSum wanted = model.loss(batch, {}, nullptr, pass);
  const LossSum got = translation_loss(model, sources, targets);
  EXPECT_EQ(got.tokens, 7);
  EXPECT_NEAR(got.loss, wanted.loss, 1e-4);
}

TEST(TranslatorParts, NeverAnswerWithWhatBeginsTargets) {
  EXPECT_EQ(unwritten_tokens(), (Tokens{0, 1, 3}));
  EXPECT_EQ(unwritten_tokens(of_bart()), (Tokens{4, 7}));
  TransformerConfig config = of_bart();
  config.target_start = {9};  // as BART's, which ends them too
  EXPECT_TRUE(unwritten_tokens(config).empty());
  const Translator<float> model(of_bart());
  const auto found = translate(model, std::vector<Tokens>{{3, 5, 8}}, {.extra_tokens = 4});
  EXPECT_THAT(found[0][0].tokens, Each(Not(::testing::AnyOf(4, 7))));
}

TEST(TranslatorParts, EndWithTheTableOfPositions) {
  const Translator<float> model(of_bart());  // a table of 8
  const std::vector<Tokens> sources = {{3, 5, 8}};
  const auto found = translate(model, sources, {.extra_tokens = 50, .never = Tokens{9}});
  EXPECT_EQ(found[0][0].tokens.size(), 7u);
  EXPECT_THAT(
      [&] {
        translation_loss(model, sources, std::vector<Tokens>{{1, 1, 1, 1, 1, 1, 1}});
      },
      ThrowsMessage<Error>(HasSubstr("must be at most 6 tokens each")));
  TransformerConfig config = of_bart();
  config.target_start = Tokens(9, 4);
  EXPECT_THAT([&] { translate(Translator<float>(config), sources); },
              ThrowsMessage<Error>(HasSubstr("target_start")));
}

TEST(TranslatorParts, OfAnEnsembleBeginTargetsAlike) {
  const Translator<float> one(of_bart()), other(tiny(ModelKind::translator));
  EXPECT_THAT(
      [&] {
        translate({{&one, &other}}, std::vector<Tokens>{{3}});
      },
      ThrowsMessage<Error>(HasSubstr("begin and end targets with the same tokens")));
}

}  // namespace
}  // namespace sextant
