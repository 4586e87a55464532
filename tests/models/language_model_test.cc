// Whole models: logits of chosen places, sources without tokens.
#include "sextant/models/language_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"
#include "sextant/models/translator.h"

namespace sextant {
namespace {

LanguageModel<double> small(ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 7;
  config.width = 8;
  config.heads = 2;
  config.layers = 1;
  return LanguageModel<double>(config);
}

TEST(LanguageModel, LogitsGiveTheLikelihoods) {
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked}) {
    auto model = small(kind);
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
  auto model = small(ModelKind::causal);
  const TokenBatch batch{{3, 1}, {0, 2}, {-1, -1}};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  EXPECT_THROW(model.logits(batch, std::vector<std::int64_t>{2}, pass), Error);
  EXPECT_THROW(model.logits(batch, std::vector<std::int64_t>{-1}, pass), Error);
}

// A decoder over an empty source has a sum of nothing for context, alone or among others.
TEST(Translator, TakesASourceWithoutTokens) {
  TransformerConfig config;
  config.kind = ModelKind::translator;
  config.vocabulary = 7;
  config.width = 8;
  config.heads = 2;
  config.layers = 1;
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
