// Whole models: gradients of every parameter against central differences.
#include <gtest/gtest.h>

#include <algorithm>

#include "layers/gradient_checks.h"
#include "sextant/models/language_model.h"
#include "sextant/models/translator.h"

namespace sextant {
namespace {

TransformerConfig tiny(ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 11;
  config.width = 8;
  config.heads = 2;
  config.layers = 1;
  config.ffn_width = 12;
  config.length = 8;
  return config;
}

TokenBatch two_sentences() { return {{1, 4, 6, 3, 5, 1, 7}, {0, 5, 7}, {4, 6, -1, 5, 2, 7, 2}}; }

template <class Model, class Batch>
void expect_model_gradients(const TransformerConfig& config, const Batch& batch) {
  Model model(config), gradient = zeros_like(model);
  // Positions as large as words: where a word is hidden, the norm of a tiny row would be too curved
  // for differences.
  for (const auto& parameter : model.parameters()) {
    if (parameter.name != "positions.table") continue;
    for (double& value : parameter.tensor->span()) value *= 50;
  }
  Workspace memory;
  const TokenLossOptions options{.label_smoothing = 0.1, .scale = 0.5};
  const auto loss = [&] {
    memory.reset();
    Pass pass{
        .memory = memory, .threads = 1, .dropout = 0.1, .random = {.seed = 9}, .word_dropout = 0.3};
    return options.scale * model.loss(batch, options, nullptr, pass).smoothed;
  };
  Pass pass{
      .memory = memory, .threads = 1, .dropout = 0.1, .random = {.seed = 9}, .word_dropout = 0.3};
  model.loss(batch, options, &gradient, pass);
  expect_gradients(model.parameters(), gradient.parameters(), loss, 6);
}

TEST(Models, GradientsStartAsZerosOfTheSameShapes) {
  TransformerConfig config = tiny(ModelKind::translator);
  config.positions = {"learned"};
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
    config.positions = {"learned"};
    expect_model_gradients<LanguageModel<double>>(config, two_sentences());
  }
}

TEST(LanguageModel, HiddenWordsLeaveTheirPositions) {
  TransformerConfig config = tiny(ModelKind::causal);
  config.positions = {"learned"};
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
    config.positions = {"sinusoidal"};
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
  config.positions = {{"t5", {{"num_buckets", "16"}}}};
  const std::string json = format_config(config);
  EXPECT_EQ(format_config(parse_config(json)), json);
}

TEST(TransformerConfig, RefusesWhatDoesNotFit) {
  TransformerConfig config = tiny(ModelKind::causal);
  config.heads = 3;
  EXPECT_THROW(check_config(config), Error);
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
