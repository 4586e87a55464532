// Whole models: logits of chosen places, sources without tokens.
#include "sextant/models/language_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"
#include "sextant/models/translator.h"

namespace sextant {
namespace {

LanguageModel<double> tiny_model(ModelKind kind) {
  TransformerConfig config{.kind = kind, .vocabulary = 7, .width = 8, .heads = 2, .layers = 1};
  return LanguageModel<double>(config);
}

TEST(LanguageModel, LogitsGiveTheLikelihoods) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    auto model = tiny_model(kind);
    const TokenBatch batch{{3, 1, 4, 1, 5}, {0, 2, 5}, {1, 6, -1, 5, 2}};
    const std::vector<std::int64_t> places = {4, 0, 3};
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    const Tensor<double> logits = model.logits(batch, places, pass);
    const Tensor<double> likelihoods = model.log_likelihoods(batch, pass);
    ASSERT_EQ(logits.shape(), (Shape{3, 7}));
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t place = places[static_cast<std::size_t>(i)];
      double total = 0;
      for (std::int64_t token = 0; token < 7; ++token) total += std::exp(logits(i, token));
      const std::int64_t target = batch.targets[static_cast<std::size_t>(place)];
      // A few roundings of numbers up to 10 in float64.
      EXPECT_NEAR(logits(i, target) - std::log(total), likelihoods(place), 1e-13);
    }
  }
}

TEST(LanguageModel, HasNoLogitsOutsideTheBatch) {
  auto model = tiny_model(ModelKind::causal);
  const TokenBatch batch{{3, 1}, {0, 2}, {-1, -1}};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  EXPECT_THROW(model.logits(batch, std::vector<std::int64_t>{2}, pass), Error);
  EXPECT_THROW(model.logits(batch, std::vector<std::int64_t>{-1}, pass), Error);
}

TEST(LanguageModel, HiddenStatesEndInWhatLogitsAreOf) {
  for (const bool tied : {true, false}) {
    TransformerConfig config = tiny_model(ModelKind::causal).config;
    config.layers = 3;
    config.tied = tied;
    const LanguageModel<double> model(config);
    const std::vector<std::int64_t> tokens = {3, 1, 4}, places = {0, 1, 2};
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    const auto states = model.hidden_states(tokens, pass);
    ASSERT_EQ(states.size(), 4);
    const Tensor<double> logits = model.logits(TokenBatch::of(tokens), places, pass);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t token = 0; token < 7; ++token) {
        double sum = 0;
        for (std::int64_t c = 0; c < 8; ++c)
          sum += states[3](i, c) * model.logits_matrix().wide()(token, c);
        EXPECT_NEAR(logits(i, token), sum, 1e-13);
      }
      for (std::int64_t c = 0; c < 8; ++c) {  // rotary positions add nothing
        EXPECT_NEAR(states[0](i, c), model.embedding.table()(tokens[i], c) * std::sqrt(8.0), 1e-14);
      }
    }
  }
}

TEST(LanguageModel, WithoutLogitsHasNoMatrixOfThem) {
  TransformerConfig config = tiny_model(ModelKind::masked).config;
  config.logits = false;
  config.tied = false;
  const LanguageModel<double> model(parse_config(format_config(config)));
  EXPECT_EQ(model.output.count(), 0);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const TokenBatch batch{{3, 1}, {0, 2}, {1, 4}};
  auto gradient = zeros_like(model);
  EXPECT_EQ(model.hidden_states(batch.tokens, pass).size(), 2);
  EXPECT_THROW(model.logits_matrix(), Error);
  EXPECT_THROW(model.loss(batch, {}, &gradient, pass), Error);
  EXPECT_THROW(model.loss(batch, {}, nullptr, pass), Error);
  config.kind = ModelKind::translator;
  EXPECT_THROW(check_config(config), Error);
}

TransformerConfig deep(ModelKind kind, std::int64_t layers) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 40;
  config.width = 64;
  config.heads = 2;
  config.layers = layers;
  config.pointer = kind == ModelKind::translator;
  return config;
}

TokenBatch long_batch() {
  std::vector<std::int64_t> tokens(800);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::int64_t>(i * i % 40);
  }
  return {tokens, {0, 500, 800}, tokens};
}

// The memory that use(model, batch, pass) takes of a model with 8 layers is that of one with 2.
template <class Model, class Batch, class Use>
void expect_memory_of_a_layer(ModelKind kind, const Batch& batch, const Use& use) {
  std::vector<std::size_t> peaks;
  for (const std::int64_t layers : {2, 8}) {
    const Model model(deep(kind, layers));
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    use(model, batch, pass);
    peaks.push_back(memory.bytes());
  }
  EXPECT_EQ(peaks[0], peaks[1]);
}

TEST(LanguageModel, KeepsNothingWhereNoGradientsAreWanted) {
  using Model = LanguageModel<float>;
  const TokenBatch batch = long_batch();
  const auto& tokens = batch.tokens;
  const auto expect = [&](const auto& use) {
    for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
      expect_memory_of_a_layer<Model>(kind, batch, use);
    }
  };
  expect([](const Model& model, const TokenBatch& all, Pass& pass) {
    Workspace memory;
    Pass training{.memory = memory, .threads = 1};
    Model gradient = zeros_like(model);
    EXPECT_EQ(model.loss(all, {}, nullptr, pass).loss,
              model.loss(all, {}, &gradient, training).loss);
    EXPECT_LT(pass.memory.bytes(), memory.bytes());
  });
  expect([](const Model& model, const TokenBatch& all, Pass& pass) {
    model.log_likelihoods(all, pass);
  });
  expect([](const Model& model, const TokenBatch& all, Pass& pass) {
    model.logits(all, std::vector<std::int64_t>{3, 799}, pass);
  });
  expect(
      [&](const Model& model, const TokenBatch&, Pass& pass) { model.layer_logits(tokens, pass); });
  expect([&](const Model& model, const TokenBatch&, Pass& pass) {
    model.attention_maps(std::span(tokens).first(300), pass);
  });
}

TEST(Translator, KeepsNothingWhereNoGradientsAreWanted) {
  using Model = Translator<float>;
  const PairBatch pairs{long_batch().tokens, {0, 100, 800}, long_batch()};
  const auto& tokens = pairs.source;
  const auto expect = [&](const auto& use) {
    expect_memory_of_a_layer<Model>(ModelKind::translator, pairs, use);
  };
  expect([](const Model& model, const PairBatch& all, Pass& pass) {
    Workspace memory;
    Pass training{.memory = memory, .threads = 1};
    Model gradient = zeros_like(model);
    EXPECT_EQ(model.loss(all, {}, nullptr, pass).loss,
              model.loss(all, {}, &gradient, training).loss);
    EXPECT_LT(pass.memory.bytes(), memory.bytes());
  });
  expect([&](const Model& model, const PairBatch&, Pass& pass) {
    model.layer_logits(tokens, tokens, pass);
  });
  expect([&](const Model& model, const PairBatch&, Pass& pass) {
    model.attention_maps(std::span(tokens).first(300), std::span(tokens).first(200), pass);
  });
}

TEST(LanguageModel, HasTheAttentionMapsOfChosenLayers) {
  const LanguageModel<float> model(deep(ModelKind::causal, 4));
  const Translator<float> translator(deep(ModelKind::translator, 4));
  const std::vector<std::int64_t> tokens = {3, 1, 4, 1, 5}, layers = {1, 3};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const auto expect_chosen = [&](const auto& some, const auto& all) {
    ASSERT_EQ(some.size(), layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& wanted = all[static_cast<std::size_t>(layers[i])];
      EXPECT_TRUE(std::ranges::equal(some[i].span(), wanted.span()));
    }
  };
  expect_chosen(model.attention_maps(tokens, pass, {.layers = layers}),
                model.attention_maps(tokens, pass));
  const auto some = translator.attention_maps(tokens, tokens, pass, {.layers = layers});
  const auto all = translator.attention_maps(tokens, tokens, pass);
  expect_chosen(some.encoder, all.encoder);
  expect_chosen(some.decoder, all.decoder);
  expect_chosen(some.cross, all.cross);
  using Layers = std::vector<std::int64_t>;
  for (const Layers& wrong : {Layers{4}, Layers{-1}, Layers{2, 1}, Layers{1, 1}}) {
    EXPECT_THROW(model.attention_maps(tokens, pass, {.layers = wrong}), Error);
  }
}

TEST(LanguageModel, HasTheAttentionMapsOfChosenHeadsAndRows) {
  const LanguageModel<float> model(deep(ModelKind::causal, 2));
  const std::vector<std::int64_t> tokens = {3, 1, 4, 1, 5}, heads = {1}, rows = {4, 2}, wrong = {5};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const auto all = model.attention_maps(tokens, pass);
  const auto some = model.attention_maps(tokens, pass, {.heads = heads, .rows = rows});
  ASSERT_EQ(some.size(), all.size());
  for (std::size_t layer = 0; layer < all.size(); ++layer) {
    ASSERT_EQ(some[layer].shape(), Shape({1, 2, 5}));
    for (std::int64_t key = 0; key < 5; ++key) {
      EXPECT_EQ(some[layer](0, 0, key), all[layer](1, 4, key));
      EXPECT_EQ(some[layer](0, 1, key), all[layer](1, 2, key));
    }
  }
  EXPECT_THROW(model.attention_maps(tokens, pass, {.rows = wrong}), Error);
  EXPECT_THROW(model.attention_maps(tokens, pass, {.heads = wrong}), Error);
  const Translator<float> translator(deep(ModelKind::translator, 2));
  EXPECT_THROW(translator.attention_maps(tokens, tokens, pass, {.rows = rows}), Error);
  const auto of_head = translator.attention_maps(tokens, tokens, pass, {.heads = heads});
  EXPECT_EQ(of_head.cross.at(0).shape(), Shape({1, 5, 5}));
}

// A decoder over an empty source has a sum of nothing for context, alone or among others.
TEST(Translator, TakesASourceWithoutTokens) {
  TransformerConfig config{
      .kind = ModelKind::translator, .vocabulary = 7, .width = 8, .heads = 2, .layers = 1};
  Translator<double> model(config), gradient = zeros_like(model);
  const PairBatch empty{{}, {0, 0}, {{1, 4, 5}, {0, 3}, {4, 5, 2}}},
      other{{3, 6}, {0, 2}, {{1, 6}, {0, 2}, {6, 2}}},
      both{{3, 6}, {0, 0, 2}, {{1, 4, 5, 1, 6}, {0, 3, 5}, {4, 5, 2, 6, 2}}};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const auto loss = [&](const PairBatch& batch) {
    return model.loss(batch, {}, &gradient, pass).loss;
  };
  EXPECT_NEAR(loss(empty) + loss(other), loss(both), 1e-13);  // sums of five numbers below 10
  const auto maps = model.attention_maps(empty.source, empty.target.tokens, pass);
  EXPECT_EQ(maps.cross[0].shape(), Shape({2, 3, 0}));
}

}  // namespace
}  // namespace sextant
