// Whole models: gradients of every parameter against central differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/tiny_model.h"
#include "sextant/models/language_model.h"
#include "sextant/models/translator.h"

namespace sextant {
namespace {

TEST(Models, GradientsStartAsZerosOfTheSameShapes) {
  TransformerConfig config = tiny(ModelKind::translator);
  config.schemes = {"learned"};
  config.tied = false;
  Translator<double> model(config), zeros = zeros_like(model);
  const auto wanted = model.parameters(), found = zeros.parameters();
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, wanted[i].name);
    EXPECT_EQ(found[i].tensor->shape(), wanted[i].tensor->shape());
    EXPECT_EQ(std::ranges::count(found[i].tensor->span(), 0), found[i].tensor->count());
  }
  EXPECT_NE(wanted.front().tensor->data()[0], 0) << "the model itself keeps its weights";
}

TEST(LanguageModel, HasTheGradientsOfTiedAndUntiedEmbeddings) {
  for (const bool tied : {true, false}) {
    SCOPED_TRACE(tied);
    TransformerConfig config = tiny(ModelKind::causal);
    config.tied = tied;
    config.schemes = {"learned"};
    expect_model_gradients<LanguageModel<double>>(config, two_sentences());
  }
}

// What models of others have: heads wider than width / heads, biases of some maps alone, a norm of
// the embedding, its scale, and another epsilon.
TransformerConfig with_every_part(ModelKind kind) {
  TransformerConfig config = tiny(kind);
  config.head_dim = 6;
  config.bias = false;
  config.embedding_norm = true;
  config.norm_epsilon = 0.01;
  config.embedding_scale = 1.5;
  config.schemes = {"learned", "rotary"};
  return config;
}

TEST(LanguageModel, HasTheGradientsOfEveryPart) {
  for (const bool qkv : {true, false}) {
    SCOPED_TRACE(qkv);
    TransformerConfig config = with_every_part(ModelKind::causal);
    (qkv ? config.qkv_bias : config.ffn_bias) = true;
    LanguageModel<double> model(config);
    const auto& layer = model.stack.layers[0];
    EXPECT_EQ(layer.self.in.weight.shape(), (Shape{36, 8}));
    EXPECT_EQ(layer.self.in.bias.count(), qkv ? 36 : 0);
    EXPECT_EQ(layer.self.out.bias.count(), 0);
    EXPECT_EQ(layer.feed_forward.in.bias.count(), qkv ? 0 : 12);
    EXPECT_EQ(layer.feed_forward.out.bias.count(), qkv ? 0 : 8);
    EXPECT_EQ(layer.self_norm->epsilon, 0.01);
    expect_model_gradients<LanguageModel<double>>(config, two_sentences());
  }
}

TEST(LanguageModel, HasTheGradientsOfTypesOfTokens) {
  TransformerConfig config = tiny(ModelKind::masked);
  config.schemes = {"learned"};
  config.token_types = 3;
  TokenBatch batch = two_sentences();
  batch.types = {0, 1, 2, 2, 0, 1, 0};
  expect_model_gradients<LanguageModel<double>>(config, batch);
}

// A row that is added to each token of type 1 is as good as other positions.
TEST(LanguageModel, AddsTheRowOfATokensType) {
  TransformerConfig config = tiny(ModelKind::masked);
  config.schemes = {"learned"};
  config.token_types = 2;
  LanguageModel<double> model(config);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::vector<std::int64_t> tokens = {5, 6, 7}, types = {0, 1, 1}, zeros = {0, 0, 0};
  const auto typed = model.hidden_states(tokens, pass, types);
  const auto plain = model.hidden_states(tokens, pass);
  EXPECT_TRUE(
      std::ranges::equal(plain[0].span(), model.hidden_states(tokens, pass, zeros)[0].span()));
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t k = 0; k < 8; ++k) {
      EXPECT_EQ(typed[0](i, k), plain[0](i, k) + (i > 0 ? model.type_rows(0, k) : 0));
    }
  }
  const TransformerConfig read = parse_config(format_config(config));
  EXPECT_EQ(read.token_types, 2);
  config.kind = ModelKind::translator;
  EXPECT_THROW(check_config(config), Error);
}

TEST(LanguageModel, ScalesTheEmbeddingAsItIsTold) {
  TransformerConfig config = tiny(ModelKind::causal);
  config.tied = false;
  LanguageModel<double> usual(config);
  config.embedding_scale = 2 * std::sqrt(8.0);
  LanguageModel<double> scaled(config);
  for (double& x : scaled.embedding.table().span()) x /= 2;
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::vector<std::int64_t> places = {6};
  const auto of = [&](const auto& model) { return model.logits(two_sentences(), places, pass); };
  const Tensor<double> want = of(usual), got = of(scaled);
  EXPECT_TRUE(std::ranges::equal(want.span(), got.span()));
}

TEST(LanguageModel, NormsWhatTheFirstLayerReads) {
  TransformerConfig config = tiny(ModelKind::causal);
  config.embedding_norm = true;
  const LanguageModel<double> model(config);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const TokenBatch batch = two_sentences();
  bool seen = false;
  const View<double> x = memory.take<double>({7, 8});
  model.embedding.forward(batch.tokens, 1, x, pass);
  model.stack.infer(x, {.segments = batch.segments}, pass,
                    {.residual = [&](View<const double> read) {
                      for (std::int64_t row = 0; row < 7 && !seen; ++row) {
                        double mean = 0, square = 0;
                        for (std::int64_t c = 0; c < 8; ++c) mean += read(row, c) / 8;
                        for (std::int64_t c = 0; c < 8; ++c)
                          square += read(row, c) * read(row, c) / 8;
                        EXPECT_NEAR(mean, 0, 1e-12);
                        EXPECT_NEAR(square, 1, 1e-3);
                      }
                      seen = true;
                    }});
  EXPECT_TRUE(seen);
}

TEST(LanguageModel, HiddenWordsLeaveTheirPositions) {
  TransformerConfig config = tiny(ModelKind::causal);
  config.schemes = {"learned"};
  LanguageModel<double> model(config);
  // Words 8 and 9 differ in their vectors only, so once both are hidden nobody can tell.
  const TokenBatch eight{std::vector<std::int64_t>(64, 8),
                         {0, 8, 16, 24, 32, 40, 48, 56, 64},
                         std::vector<std::int64_t>(64, 3)};
  TokenBatch nine = eight;
  std::ranges::fill(nine.tokens, 9);
  const auto loss = [&](const TokenBatch& batch, double hidden, std::uint64_t seed) {
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1, .random = {.seed = seed}, .word_dropout = hidden};
    return model.loss(batch, {}, nullptr, pass).loss;
  };
  EXPECT_NE(loss(eight, 0, 1), loss(nine, 0, 1));
  EXPECT_EQ(loss(eight, 1 - 1e-12, 1), loss(nine, 1 - 1e-12, 1));
  EXPECT_NE(loss(eight, 0.5, 1), loss(eight, 0, 1));
  EXPECT_NE(loss(eight, 0.5, 1), loss(eight, 0.5, 2));
  EXPECT_EQ(loss(eight, 0.5, 1), loss(eight, 0.5, 1));
}

TEST(LanguageModel, OfMaskedTokensSeesBothSides) {
  expect_model_gradients<LanguageModel<double>>(tiny(ModelKind::masked), two_sentences());
}

TEST(Translator, HasTheGradientsWithAndWithoutPointer) {
  for (const bool pointer : {true, false}) {
    SCOPED_TRACE(pointer);
    TransformerConfig config = tiny(ModelKind::translator);
    config.pointer = pointer;
    config.schemes = {"sinusoidal"};
    expect_model_gradients<Translator<double>>(
        config, PairBatch{{4, 7, 2, 5, 2, 7}, {0, 3, 6}, two_sentences()});
  }
}

TEST(LanguageModel, GivesTheSameLossPackedAndApart) {
  LanguageModel<float> model(tiny(ModelKind::causal));
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const TokenBatch both = two_sentences();
  const Tensor<double> packed = model.log_likelihoods(both, pass);
  for (std::size_t s = 0; s < 2; ++s) {
    const auto begin = both.segments[s], end = both.segments[s + 1];
    TokenBatch one{{both.tokens.begin() + begin, both.tokens.begin() + end},
                   {0, end - begin},
                   {both.targets.begin() + begin, both.targets.begin() + end}};
    const Tensor<double> alone = model.log_likelihoods(one, pass);
    for (std::int64_t i = 0; i < end - begin; ++i) EXPECT_EQ(alone(i), packed(begin + i)) << i;
  }
}

TEST(LanguageModel, OfCausalKindDoesNotSeeWhatComes) {
  LanguageModel<double> model(tiny(ModelKind::causal));
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  TokenBatch batch{{1, 4, 6, 3}, {0, 4}, {4, 6, 3, 2}};
  const Tensor<double> before = model.log_likelihoods(batch, pass);
  batch.tokens[3] = 9;
  const Tensor<double> after = model.log_likelihoods(batch, pass);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(before(i), after(i));
  EXPECT_NE(before(3), after(3));
}

TEST(TransformerConfig, ComesBackFromItsJson) {
  TransformerConfig config = tiny(ModelKind::translator);
  config.pointer = true;
  config.schemes = {{"t5", {{"num_buckets", "16"}}}};
  const std::string json = format_config(config);
  EXPECT_EQ(format_config(parse_config(json)), json);
  for (const bool qkv : {true, false}) {
    config = with_every_part(ModelKind::causal);
    config.qkv_bias = qkv;
    config.ffn_bias = !qkv;
    const TransformerConfig read = parse_config(format_config(config));
    EXPECT_EQ(format_config(read), format_config(config));
    EXPECT_EQ(read.qkv_bias, qkv);
    EXPECT_EQ(read.ffn_bias, !qkv);
    EXPECT_EQ(read.head_dim, 6);
    EXPECT_TRUE(read.embedding_norm);
    EXPECT_EQ(read.norm_epsilon, 0.01);
    EXPECT_EQ(read.embedding_scale, 1.5);
  }
}

TEST(TransformerConfig, IsWrittenAsEarlierVersionsReadItWhereItCanBe) {
  const std::string json = format_config(tiny(ModelKind::causal));
  for (const char* key :
       {"head_dim",        "norm_epsilon",      "embedding_norm",  "qkv_bias",
        "out_bias",        "ffn_bias",          "embedding_scale", "final_norm",
        "first_norm",      "output_norm",       "parallel_blocks", "qk_norm",
        "attention_scale", "attention_softcap", "logits",          "layer_schemes",
        "decoder_schemes", "target_start",      "target_end",      "token_types"}) {
    EXPECT_EQ(json.find(key), std::string::npos) << key;
  }
  const TransformerConfig config = parse_config(json);
  EXPECT_EQ(config.attention_head_dim(), 4);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_EQ(config.embedding_factor(), std::sqrt(8.0));
}

TEST(TransformerConfig, RefusesWhatDoesNotFit) {
  TransformerConfig config = tiny(ModelKind::causal);
  config.heads = 3;
  EXPECT_THROW(check_config(config), Error);
  config.head_dim = 4;
  EXPECT_NO_THROW(check_config(config));
  config = tiny(ModelKind::causal);
  config.pointer = true;
  EXPECT_THROW(check_config(config), Error);
  EXPECT_THROW(parse_config("{"), Error);
  EXPECT_THROW(parse_config("[]"), Error);
  EXPECT_THROW(parse_config("{}"), Error);
  std::string json = format_config(tiny(ModelKind::causal));
  json.insert(1, "\"more\": 1,");
  EXPECT_THROW(parse_config(json), Error);
  json = format_config(tiny(ModelKind::causal));
  json.replace(json.find("\"width\": 8"), 10, "\"width\": 8.5");
  EXPECT_THROW(parse_config(json), Error);
  TokenBatch batch = two_sentences();
  batch.tokens[0] = 11;
  EXPECT_THROW(batch.check(11), Error);
}

}  // namespace
}  // namespace sextant
