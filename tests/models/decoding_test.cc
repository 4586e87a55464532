// Decoding with caches gives what the whole model says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "layers/ops.h"
#include "sextant/models/generate.h"
#include "sextant/models/translate.h"

namespace sextant {
namespace {

TransformerConfig small(ModelKind kind, const std::string& scheme) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 13;
  config.width = 16;
  config.heads = 4;
  config.kv_heads = kind == ModelKind::causal ? 2 : 0;
  config.layers = 2;
  config.length = 64;
  config.schemes = {scheme};
  return config;
}

// The most probable next token, from the log likelihood of every token there.
std::int64_t next_token(LanguageModel<float>& model, std::vector<std::int64_t> tokens) {
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  std::int64_t best = 0;
  double most = -INFINITY;
  const auto never = unwritten_tokens();
  for (std::int64_t token = 0; token < model.config.vocabulary; ++token) {
    if (std::ranges::count(never, token) > 0) continue;
    TokenBatch batch{tokens, {0, static_cast<std::int64_t>(tokens.size())}, {}};
    batch.targets.assign(tokens.size(), -1);
    batch.targets.back() = token;
    const double likelihood = model.log_likelihoods(batch, pass)(batch.targets.size() - 1);
    if (likelihood > most) {
      most = likelihood;
      best = token;
    }
  }
  return best;
}

TEST(Generate, GivesTheMostProbableTokensOfTheWholeModel) {
  for (const char* scheme : {"none", "rotary", "sinusoidal", "alibi", "t5", "learned"}) {
    SCOPED_TRACE(scheme);
    LanguageModel<float> model(small(ModelKind::causal, scheme));
    std::vector<std::int64_t> tokens = {1, 7, 5};
    GenerateOptions options;
    options.max_tokens = 6;
    options.sampling.temperature = 0;
    const auto made = generate(model, tokens, options).tokens;
    ASSERT_EQ(made.size(), 6u);
    for (const std::int64_t token : made) {
      EXPECT_EQ(token, next_token(model, tokens));
      tokens.push_back(token);
    }
  }
}

TEST(Generate, GivesTheMostProbableTokensOfModelsWithEveryPart) {
  TransformerConfig config = small(ModelKind::causal, "rotary");
  config.heads = 3;
  config.kv_heads = 1;
  config.head_dim = 8;
  config.bias = false;
  config.qkv_bias = config.embedding_norm = true;
  config.norm_epsilon = 0.01;
  config.embedding_scale = 1.5;
  config.schemes = {"learned", "rotary"};
  LanguageModel<float> model(config);
  std::vector<std::int64_t> tokens = {1, 7, 5};
  GenerateOptions options;
  options.max_tokens = 6;
  options.sampling.temperature = 0;
  for (const std::int64_t token : generate(model, tokens, options).tokens) {
    EXPECT_EQ(token, next_token(model, tokens));
    tokens.push_back(token);
  }
}

TEST(Generate, StopsWhereItIsTold) {
  LanguageModel<float> model(small(ModelKind::causal, "rotary"));
  const std::vector<std::int64_t> prompt = {1};
  GenerateOptions options;
  options.max_tokens = 8;
  std::int64_t calls = 0;
  const auto three = generate(model, prompt, options, [&](std::int64_t) { return ++calls < 3; });
  EXPECT_EQ(three.tokens.size(), 3u);
  EXPECT_EQ(three.ended_by, GenerationEnd::stop);
  const auto whole = generate(model, prompt, options);
  EXPECT_EQ(whole.ended_by, GenerationEnd::tokens);
  const auto& all = whole.tokens;
  options.ends = {all[4]};
  std::size_t first = 0;
  while (all[first] != all[4]) ++first;
  const auto stopped = generate(model, prompt, options);
  EXPECT_EQ(stopped.tokens.size(), first);
  EXPECT_EQ(stopped.ended_by, GenerationEnd::end);
  EXPECT_THROW(generate(model, {}, options), Error);
  EXPECT_THROW(generate(model, std::vector<std::int64_t>{13}, options), Error);
}

TEST(Generate, EndsWhereTheTableOfPositionsEnds) {
  TransformerConfig config = small(ModelKind::causal, "learned");
  config.length = 8;
  LanguageModel<float> model(config);
  const std::vector<std::int64_t> prompt = {5, 7, 9};
  GenerateOptions options{.max_tokens = 20, .sampling = {.temperature = 0}};
  const auto made = generate(model, prompt, options);
  EXPECT_EQ(made.tokens.size(), 6u);  // five are read after the prompt, and one follows them
  EXPECT_EQ(made.ended_by, GenerationEnd::positions);
  options.max_tokens = 6;
  EXPECT_EQ(generate(model, prompt, options).tokens, made.tokens);
  EXPECT_EQ(generate(model, prompt, options).ended_by, GenerationEnd::tokens);

  // Sliding, every token follows the last eight.
  options.max_tokens = 20;
  options.slide = true;
  const auto on = generate(model, prompt, options);
  EXPECT_EQ(on.ended_by, GenerationEnd::tokens);
  ASSERT_EQ(on.tokens.size(), 20u);
  std::vector<std::int64_t> text = prompt;
  for (const std::int64_t token : on.tokens) {
    const auto last = std::span(text).last(std::min<std::size_t>(text.size(), 8));
    EXPECT_EQ(token, next_token(model, {last.begin(), last.end()}));
    text.push_back(token);
  }
}

TEST(Generate, SaysThatAPromptIsLongerThanThePositions) {
  TransformerConfig config = small(ModelKind::causal, "learned");
  config.length = 4;
  LanguageModel<float> model(config);
  const std::vector<std::int64_t> prompt = {4, 5, 6, 7, 8};
  GenerateOptions options{.max_tokens = 2, .sampling = {.temperature = 0}};
  try {
    generate(model, prompt, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "[generate.prompt] must be at most 4 tokens, where the positions of the model "
              "(learned) end, got 5; slide reads its last 4");
  }
  options.slide = true;
  const auto last = std::span(prompt).last(4);
  EXPECT_EQ(generate(model, prompt, options).tokens, generate(model, last, options).tokens);
}

// A model that finds <pad>, <bos> and <unk> more probable than all else.
TEST(Generate, NeverGivesTokensThatNoTextIsWrittenWith) {
  LanguageModel<float> model(small(ModelKind::causal, "rotary"));
  const std::vector<std::int64_t> prompt = {5, 7, 9};
  GenerateOptions options{.max_tokens = 60, .sampling = {.temperature = 50}, .never = {}};
  const auto given = [&] {
    const auto made = generate(model, prompt, options).tokens;
    std::int64_t count = 0;
    for (const std::int64_t id : unwritten_tokens()) count += std::ranges::count(made, id);
    return count;
  };
  EXPECT_GT(given(), 0);  // nearly uniform over 13 tokens: 10/13 to the power of 60 is 2e-7
  options.never = unwritten_tokens();
  EXPECT_EQ(given(), 0);
  for (const std::int64_t id : {0, 1, 3}) EXPECT_EQ(std::ranges::count(options.never, id), 1);
}

// log P of the target given the source, from the whole model.
double log_probability(Translator<float>& model, const std::vector<std::int64_t>& source,
                       const std::vector<std::int64_t>& target) {
  PairBatch batch{source, {0, static_cast<std::int64_t>(source.size())}, {}};
  batch.target.tokens = {1};
  batch.target.tokens.insert(batch.target.tokens.end(), target.begin(), target.end());
  batch.target.targets = target;
  batch.target.targets.push_back(2);
  batch.target.segments = {0, static_cast<std::int64_t>(batch.target.tokens.size())};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  return -model.loss(batch, {}, nullptr, pass).loss;
}

TEST(Translate, GivesHypothesesTheProbabilityOfTheWholeModel) {
  for (const bool pointer : {false, true}) {
    SCOPED_TRACE(pointer);
    TransformerConfig config = small(ModelKind::translator, "sinusoidal");
    config.pointer = pointer;
    Translator<float> model(config);
    const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}, {7}, {8, 3, 3, 9, 10}};
    TranslateOptions options;
    options.search.beams = options.search.n_best = 3;
    const auto found = translate(model, sources, options);
    ASSERT_EQ(found.size(), sources.size());
    for (std::size_t s = 0; s < sources.size(); ++s) {
      for (const Hypothesis& hypothesis : found[s]) {
        if (!hypothesis.finished) continue;
        EXPECT_NEAR(hypothesis.log_probability,
                    log_probability(model, sources[s], hypothesis.tokens), 1e-4);
      }
    }
  }
}

TEST(Translate, DoesNotDependOnWhichSourcesAreTogether) {
  TransformerConfig config = small(ModelKind::translator, "rotary");
  config.pointer = true;
  Translator<float> model(config);
  const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}, {7}, {8, 3, 3, 9, 10}};
  TranslateOptions options;
  const auto together = translate(model, sources, options);
  options.batch_size = 1;
  const auto alone = translate(model, sources, options);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    EXPECT_EQ(together[s][0].tokens, alone[s][0].tokens);
    EXPECT_EQ(together[s][0].log_probability, alone[s][0].log_probability);
  }
}

// With every sequence among the beams the search is exact, so what it finds can be listed.
TEST(Translate, SeveralModelsDecideByTheMeanOfTheirProbabilities) {
  TransformerConfig config = small(ModelKind::translator, "rotary");
  Translator<float> first(config);
  config.seed = 5;
  config.pointer = true;
  Translator<float> second(config);
  const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}, {8, 3}};
  TranslateOptions options;
  options.length_factor = 0;
  options.extra_tokens = 1;  // one token: <eos>, or one without an end
  options.search.beams = options.search.n_best = config.vocabulary;
  options.never.emplace();
  const TranslatorEnsemble models({&first, &second});
  const auto both = translate(models, sources, options);
  const auto one = translate(first, sources, options), two = translate(second, sources, options);
  const auto probability = [](const std::vector<Hypothesis>& of, const Hypothesis& like) {
    for (const Hypothesis& each : of) {
      if (each.tokens == like.tokens) return std::exp(each.log_probability);
    }
    return -1.0;
  };
  for (std::size_t s = 0; s < sources.size(); ++s) {
    double total = 0;
    ASSERT_EQ(both[s].size(), static_cast<std::size_t>(config.vocabulary));
    for (const Hypothesis& each : both[s]) {
      const double mean = (probability(one[s], each) + probability(two[s], each)) / 2;
      EXPECT_NEAR(std::exp(each.log_probability), mean, 1e-6);
      total += mean;
    }
    EXPECT_NEAR(total, 1, 1e-5);
  }
}

TEST(Translate, AModelTwiceIsThatModel) {
  Translator<float> model(small(ModelKind::translator, "rotary"));
  const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}, {7}};
  const TranslatorEnsemble models({&model, &model});
  const auto twice = translate(models, sources), once = translate(model, sources);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    EXPECT_EQ(twice[s][0].tokens, once[s][0].tokens);
    EXPECT_NEAR(twice[s][0].log_probability, once[s][0].log_probability, 1e-5);
  }
}

TEST(TranslationLoss, IsThatOfTheWholeModel) {
  for (const bool pointer : {false, true}) {
    SCOPED_TRACE(pointer);
    TransformerConfig config = small(ModelKind::translator, "rotary");
    config.pointer = pointer;
    Translator<float> model(config);
    const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}, {7}, {8, 3, 3, 9}},
                                                 targets = {{9}, {}, {3, 8, 12, 3, 5}};
    double expected = 0;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      expected -= log_probability(model, sources[s], targets[s]);
    }
    for (const std::int64_t together : {1, 2, 32}) {
      const LossSum sum = translation_loss(model, sources, targets, {.batch_size = together});
      EXPECT_NEAR(sum.loss, expected, 1e-5 * expected);
      EXPECT_EQ(sum.smoothed, sum.loss);
      EXPECT_EQ(sum.tokens, 9);
    }
  }
}

// A model with itself is the same model, but reads token by token. Both paths make the same sums in
// another order and round each log-probability to float32 once: about width * 2^-24 of a logit, and
// 2^-24 of a loss of a few nats, per token.
TEST(TranslationLoss, InOnePassIsThatTokenByToken) {
  for (const char* scheme : {"rotary", "t5", "rotary_dynamic_ntk"}) {
    for (const bool pointer : {false, true}) {
      SCOPED_TRACE(std::string(scheme) + (pointer ? " with a pointer" : ""));
      TransformerConfig config = small(ModelKind::translator, scheme);
      config.pointer = pointer;
      if (config.schemes[0].scheme == "rotary_dynamic_ntk") {  // whose tables change from there on
        config.schemes[0].parameters = {{"max_length", "6"}};
      }
      const Translator<float> model(config);
      const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}, {7}, {8, 3, 3, 9}},
                                                   targets = {{9, 3, 3, 8, 3, 5, 4, 4, 9}, {}, {3}};
      const LossSum at_once = translation_loss(model, sources, targets);
      const LossSum step_by_step =
          translation_loss(std::vector<const Translator<float>*>{&model, &model}, sources, targets);
      EXPECT_EQ(at_once.tokens, step_by_step.tokens);
      EXPECT_EQ(at_once.correct, step_by_step.correct);
      EXPECT_EQ(at_once.smoothed, at_once.loss);
      EXPECT_NEAR(at_once.loss, step_by_step.loss, 1e-5 * step_by_step.loss);
    }
  }
}

TEST(TranslationLoss, FindsGreedyTranslationsCorrect) {
  Translator<float> model(small(ModelKind::translator, "rotary"));
  const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}};
  const auto found =
      translate(model, sources, {.search = {.beams = 1}, .never = std::vector<std::int64_t>{}});
  ASSERT_TRUE(!found[0].empty());
  const std::vector<std::vector<std::int64_t>> greedy = {found[0][0].tokens};
  const LossSum sum = translation_loss(model, sources, greedy);
  // What a greedy search takes is what is most probable; a search cut short has not ended.
  EXPECT_EQ(sum.correct, sum.tokens - (found[0][0].finished ? 0 : 1));
}

TEST(TranslationLoss, OfSeveralModelsIsThatOfTheMeanOfTheirProbabilities) {
  TransformerConfig config = small(ModelKind::translator, "rotary");
  Translator<float> first(config);
  config.seed = 5;
  Translator<float> second(config);
  const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}}, targets = {{}};
  const auto end = [&](const TranslatorEnsemble& models) {
    return std::exp(-translation_loss(models, sources, targets).loss);
  };
  const double mean = (end(first) + end(second)) / 2;
  EXPECT_NEAR(end({{&first, &second}}), mean, 1e-6);
}

TEST(TranslationLoss, RefusesWhatItCannotRead) {
  Translator<float> model(small(ModelKind::translator, "rotary"));
  const std::vector<std::vector<std::int64_t>> sources = {{4}}, wrong = {{13}}, none;
  EXPECT_THROW(translation_loss(model, sources, wrong), Error);
  EXPECT_THROW(translation_loss(model, sources, none), Error);
  EXPECT_THROW(translation_loss(model, sources, sources, {.search = {.eos = 13}}), Error);
}

TEST(Translate, RefusesModelsThatCannotDecideTogether) {
  TransformerConfig config = small(ModelKind::translator, "rotary");
  Translator<float> first(config);
  ++config.vocabulary;
  Translator<float> second(config);
  const TranslatorEnsemble models({&first, &second});
  const std::vector<std::vector<std::int64_t>> sources = {{4}};
  EXPECT_THROW(translate(models, sources), Error);
  EXPECT_THROW(translate(TranslatorEnsemble({}), sources), Error);
}

// With as many beams as tokens, one step finds all that may be given.
TEST(Translate, NeverGivesTokensThatNoTextIsWrittenWithUnlessCopied) {
  for (const bool pointer : {false, true}) {
    SCOPED_TRACE(pointer);
    TransformerConfig config = small(ModelKind::translator, "rotary");
    config.pointer = pointer;
    Translator<float> model(config);
    const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6}, {8, 3}};
    TranslateOptions options{.length_factor = 0, .extra_tokens = 1};
    options.search.beams = options.search.n_best = config.vocabulary;
    const auto found = translate(model, sources, options);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      std::vector<std::int64_t> given;
      for (const Hypothesis& each : found[s]) {
        given.insert(given.end(), each.tokens.begin(), each.tokens.end());
      }
      std::ranges::sort(given);
      std::vector<std::int64_t> wanted = {4, 5, 6, 7, 8, 9, 10, 11, 12};
      if (pointer && s == 1) wanted.insert(wanted.begin(), 3);  // <unk> stands in the source
      EXPECT_EQ(given, wanted);
    }
  }
}

TEST(Translate, EndsWhereTheTableOfPositionsEnds) {
  TransformerConfig config = small(ModelKind::translator, "learned");
  config.length = 4;
  Translator<float> model(config);
  const std::vector<std::vector<std::int64_t>> sources = {{4, 5, 6, 7}}, longer = {{4, 5, 6, 7, 8}};
  const auto found = translate(model, sources, {.search = {.eos = 12}, .extra_tokens = 40});
  EXPECT_LE(found[0][0].tokens.size(), 4u);
  EXPECT_NO_THROW(translation_loss(model, sources, {{{4, 5, 6}}}));
  EXPECT_THROW(translate(model, longer), Error);
  EXPECT_THROW(translation_loss(model, sources, sources), Error);
}

TEST(Translate, RefusesWhatItCannotRead) {
  Translator<float> model(small(ModelKind::translator, "rotary"));
  EXPECT_THROW(translate(model, std::vector<std::vector<std::int64_t>>{{}}), Error);
  EXPECT_THROW(translate(model, std::vector<std::vector<std::int64_t>>{{13}}), Error);
}

}  // namespace
}  // namespace sextant
