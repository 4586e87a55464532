// The tasks: which batches they make, and that models learn from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sextant/core/error.h"
#include "sextant/models/generate.h"
#include "sextant/models/translate_lines.h"
#include "sextant/training/adamw.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/translation_task.h"

namespace sextant {
namespace {

TransformerConfig small_config(ModelKind kind) {
  TransformerConfig config{.kind = kind, .width = 32, .heads = 4, .layers = 2, .ffn_width = 64};
  return config;
}

Tokenizer letters(const std::string& text) {
  return Tokenizer::train(std::vector<std::string>{text}, {.kind = TokenizerKind::character});
}

LanguageTask language_task(ModelKind kind, const TaskOptions& data) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "abcdefghij";
  Tokenizer tokenizer = letters(text);
  const auto tokens = tokenizer.encode(text);
  return LanguageTask({tokenizer, tokens, tokenizer.encode(text.substr(0, 100))},
                      small_config(kind), data);
}

// Steps of AdamW; the mean loss of the last.
double learn(TrainingTask& task, std::int64_t steps, double rate) {
  AdamW optimiser(task.parameters(), {.clip_norm = 1});
  Workspace memory;
  double loss = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    set_to_zero(task.gradients());
    LossSum sum;
    for (std::int64_t batch = 0; batch < task.batches(step); ++batch) {
      Pass pass{.memory = memory, .threads = 1};
      sum.add(
          task.accumulate(step, batch, 1.0 / static_cast<double>(task.target_tokens(step)), pass));
    }
    EXPECT_EQ(sum.tokens, task.target_tokens(step));
    optimiser.step(task.parameters(), task.gradients(), rate, 1);
    loss = sum.loss / static_cast<double>(sum.tokens);
  }
  return loss;
}

TEST(Epochs, ShowEveryItemOnceInEveryPass) {
  Epochs epochs(10, 3);
  std::vector<std::int64_t> first, second;
  for (std::int64_t i = 0; i < 10; ++i) first.push_back(epochs(i));
  for (std::int64_t i = 10; i < 20; ++i) second.push_back(epochs(i));
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<std::int64_t>(first.begin(), first.end()).size(), 10u);
  EXPECT_EQ(std::set<std::int64_t>(second.begin(), second.end()).size(), 10u);
  for (std::int64_t i = 9; i >= 0; --i) {
    EXPECT_EQ(epochs(i), first[static_cast<std::size_t>(i)]);
  }
  EXPECT_THROW(Epochs(0, 1), Error);
}

TEST(LanguageTask, AsksForTheNextToken) {
  auto task = language_task(ModelKind::causal, {.length = 8, .batch_size = 3});
  const TokenBatch batch = task.training_batch(2, 0);
  ASSERT_EQ(batch.segments, (std::vector<std::int64_t>{0, 8, 16, 24}));
  for (std::size_t i = 0; i + 1 < 8; ++i) EXPECT_EQ(batch.targets[i], batch.tokens[i + 1]);
  EXPECT_EQ(task.training_batch(2, 0).tokens, batch.tokens);
}

TEST(LanguageTask, AsksForHiddenTokensOnly) {
  auto task =
      language_task(ModelKind::masked, {.length = 50, .batch_size = 10, .mask_probability = 0.2});
  const std::int64_t hidden = task.model().tokenizer.size();
  std::int64_t asked = 0, shown_hidden = 0;
  for (std::int64_t step = 0; step < 20; ++step) {
    const TokenBatch batch = task.training_batch(step, 0);
    for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
      asked += batch.targets[i] >= 0;
      shown_hidden += batch.tokens[i] == hidden;
      EXPECT_TRUE(batch.tokens[i] != hidden || batch.targets[i] >= 0);
    }
  }
  // 10,000 tokens: 2000 asked for, deviation 40; 80 % of them hidden.
  EXPECT_NEAR(static_cast<double>(asked), 2000, 200);
  EXPECT_NEAR(static_cast<double>(shown_hidden), 0.8 * static_cast<double>(asked), 100);
}

TEST(LanguageTask, MakesTheSameSumsInParts) {
  auto whole = language_task(ModelKind::causal, {.length = 8, .batch_size = 5});
  auto parts =
      language_task(ModelKind::causal, {.length = 8, .batch_size = 5, .accumulation_steps = 3});
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const LossSum once = whole.accumulate(1, 0, 1, pass);
  LossSum sum;
  for (std::int64_t part = 0; part < parts.batches(1); ++part) {
    sum.add(parts.accumulate(1, part, 1, pass));
  }
  EXPECT_EQ(sum.tokens, once.tokens);
  EXPECT_NEAR(sum.loss, once.loss, 1e-4 * once.loss);
}

TEST(LanguageTask, LearnsAnAlphabet) {
  auto task = language_task(ModelKind::causal, {.length = 20, .batch_size = 4});
  EXPECT_LT(learn(task, 60, 3e-3), 0.2);
  GenerateOptions options;
  options.max_tokens = 12;
  options.sampling.temperature = 0;
  options.threads = 1;
  const auto made = generate(task.model(), "cde", options);
  EXPECT_EQ(made, "fghijabcdefg");
}

TEST(LanguageTask, LearnsHiddenLetters) {
  auto task = language_task(ModelKind::masked, {.length = 20, .batch_size = 8});
  EXPECT_LT(learn(task, 120, 3e-3), 1.2);  // ln 10 = 2.3 before
}

TEST(TranslationTask, LearnsToTurnWordsAroundAndComesBackFromItsFolder) {
  SentencePairs pairs;
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) {
      const std::string x(1, static_cast<char>('a' + a)), y(1, static_cast<char>('a' + b));
      pairs.source.push_back(x + " " + y);
      pairs.target.push_back(y + " " + x);
    }
  }
  const Tokenizer tokenizer = Tokenizer::train(pairs.source);
  const auto tokens = TokenPairs::encode(pairs, tokenizer);
  TranslationTask task({tokenizer, tokens, tokens}, small_config(ModelKind::translator),
                       {.batch_size = 18, .label_smoothing = 0});
  EXPECT_LT(learn(task, 100, 3e-3), 0.1);
  const auto found = translate(task.model(), tokens.source);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i][0].tokens, tokens.target[i]);

  const std::string folder = testing::TempDir() + "translation_task";
  task.model().save(folder);
  const TextTranslator loaded = TextTranslator::load(folder);
  EXPECT_EQ(translate(loaded, tokens.source)[7][0].log_probability, found[7][0].log_probability);
  EXPECT_EQ(translate(loaded, "c f"), "f c");
  EXPECT_EQ(translate(loaded, ""), "");
  EXPECT_THROW(TextModel::load(folder), Error);
  std::filesystem::remove(folder + "/tokenizer.json");
  EXPECT_THROW(open_model_folder(folder), Error);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(open_model_folder(folder), Error);
}

TEST(TranslationTask, SplitsSubWordsAnewInEachEpochAndOnBothSidesAlike) {
  SentencePairs pairs;
  for (int i = 0; i < 12; ++i) {
    pairs.source.push_back("answering travellers answered the traveller " + std::to_string(i));
    pairs.target.push_back(pairs.source.back());
  }
  const Tokenizer tokenizer =
      Tokenizer::train(pairs.source, {.kind = TokenizerKind::subword, .vocabulary_size = 60});
  const auto tokens = TokenPairs::encode(pairs, tokenizer);
  TranslationTask task(
      {tokenizer, tokens, tokens}, small_config(ModelKind::translator),
      {.length = 30, .batch_size = 12, .accumulation_steps = 2, .subword_dropout = 0.3});
  std::vector<std::vector<std::int64_t>> seen;
  for (const std::int64_t step : {0, 1, 0}) {
    std::int64_t targets = 0;
    seen.emplace_back();
    for (std::int64_t part = 0; part < 2; ++part) {
      const PairBatch batch = task.training_batch(step, part);
      targets += static_cast<std::int64_t>(batch.target.targets.size());
      EXPECT_EQ(batch.target.targets.size(), batch.source.size() + 6);  // an <eos> each
      EXPECT_LE(batch.source.size(), 6U * 30);
      seen.back().insert(seen.back().end(), batch.source.begin(), batch.source.end());
    }
    EXPECT_EQ(targets, task.target_tokens(step));
  }
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_NE(seen[0].size(), seen[1].size());
}

TEST(Tasks, RefuseDataThatIsTooShort) {
  EXPECT_THROW(language_task(ModelKind::causal, {.length = 100}), Error);
  EXPECT_THROW(language_task(ModelKind::causal, {.length = 0}), Error);
  const Tokenizer tokenizer = letters("ab");
  EXPECT_THROW(TranslationTask({tokenizer, {}, {}}, {}), Error);
}

}  // namespace
}  // namespace sextant
