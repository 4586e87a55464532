// Scores of models on data of which the answer is known.
#include "sextant/training/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sextant/core/error.h"
#include "sextant/models/average.h"
#include "sextant/training/adamw.h"
#include "sextant/training/tasks/translation_task.h"
#include "support/error_of.h"
#include "training/run_folders.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two words of a to f, which the translation turns around: "a b" is "b a".
SentencePairs turned_words() {
  SentencePairs pairs;
  for (char a = 'a'; a <= 'f'; ++a) {
    for (char b = 'a'; b <= 'f'; ++b) {
      pairs.source.push_back(std::string(1, a) + " " + b);
      pairs.target.push_back(std::string(1, b) + " " + a);
    }
  }
  return pairs;
}

class Evaluation : public RunFolders {
 protected:
  // Learned for `steps` steps.
  std::string translator(const std::string& name, std::int64_t steps) {
    const SentencePairs pairs = turned_words();
    const Tokenizer tokenizer = Tokenizer::train(pairs.source);
    const auto tokens = TokenPairs::encode(pairs, tokenizer);
    TranslationTask task({tokenizer, tokens, tokens},
                         {.width = 32, .heads = 4, .layers = 1, .ffn_width = 64},
                         {.batch_size = 36, .label_smoothing = 0});
    AdamW optimiser(task.parameters(), {.clip_norm = 1});
    Workspace memory;
    for (std::int64_t step = 0; step < steps; ++step) {
      set_to_zero(task.gradients());
      Pass pass{.memory = memory, .threads = 1};
      task.accumulate(step, 0, 1.0 / static_cast<double>(task.target_tokens(step)), pass);
      optimiser.step(task.parameters(), task.gradients(), 3e-3, 1);
    }
    task.save_model(path(name));
    return path(name);
  }

  static LineTranslator opened(const std::vector<std::string>& folders) {
    std::vector<ModelFolder> models;
    for (const std::string& folder : folders) models.push_back(open_model_folder(folder));
    return LineTranslator(std::move(models));
  }
};

TEST_F(Evaluation, ComparesTranslationsWithReferences) {
  LineTranslator translator = opened({this->translator("model", 150)});
  SentencePairs pairs = turned_words();
  pairs.source.insert(pairs.source.end(), {"a b", "x", ""});
  pairs.target.insert(pairs.target.end(), {"b a c", "x x", "y"});
  std::vector<std::string> seen;
  const PairScore score = evaluate(
      translator, pairs, {.search = {.beams = 2}, .threads = 1},
      [&seen](std::string_view doing, std::size_t done, std::size_t all) {
        seen.push_back(std::string(doing) + " " + std::to_string(done) + "/" + std::to_string(all));
      });
  EXPECT_THAT(seen, ElementsAre("reading 38/38", "translated 0/39", "translated 32/39"));
  ASSERT_EQ(score.translations.size(), 39u);
  EXPECT_EQ(score.translations[36], "b a");
  EXPECT_EQ(score.translations[38], "") << "a line without a token has no translation";
  EXPECT_NEAR(score.exact_percent, 100.0 * 36 / 39, 1e-12);
  EXPECT_EQ(score.bleu.score, bleu(score.translations, pairs.target).score);
  EXPECT_EQ(score.source_bleu, bleu(pairs.source, pairs.target).score);
  EXPECT_EQ(score.reference_tokens, 36 * 3 + 4 + 3);
  EXPECT_EQ(score.unknown_tokens, 3);
  EXPECT_GT(score.tokens_per_second, 0);

  pairs = turned_words();
  const Translator<float>& model = *translator.models().front();
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  std::vector<std::int64_t> all(36);
  for (std::size_t i = 0; i < 36; ++i) all[i] = static_cast<std::int64_t>(i);
  const LossSum sum = model.loss(pair_batch(TokenPairs::encode(pairs, translator.tokenizer()), all),
                                 {}, nullptr, pass);
  const double expected = std::exp(sum.loss / 108);
  // Decoding rounds log-probabilities to float32: a few 2^-24 of numbers below 16.
  EXPECT_NEAR(evaluate(translator, pairs).perplexity, expected, 1e-5 * expected);
}

TEST_F(Evaluation, CountsExactMatchesAndShowsTheFirstMisses) {
  const TextTranslator model = TextTranslator::load(translator("model", 150));
  SentencePairs pairs = turned_words();
  for (const std::size_t i : {1u, 5u, 9u, 20u}) pairs.target[i] += " f";
  const ExactMatch match = exact_match(model, pairs, 1);
  EXPECT_EQ(match.count, 36);
  EXPECT_EQ(match.right, 32);
  EXPECT_EQ(match.share(), 32.0 / 36);
  ASSERT_EQ(match.misses.size(), 3u);
  EXPECT_EQ(match.misses[0].source, "a b");
  EXPECT_EQ(match.misses[0].wanted, "b a f");
  EXPECT_EQ(match.misses[0].got, "b a");
}

TEST_F(Evaluation, LinesKeepTheirPlaces) {
  LineTranslator translator = opened({this->translator("model", 150)});
  const std::vector<std::vector<std::int64_t>> lines = {
      translator.tokens("a b", "line"), {}, translator.tokens("c d", "line")};
  const auto found = translator.hypotheses(lines, {.threads = 1});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(translator.text("a b", found[0][0]), "b a");
  EXPECT_TRUE(found[1].empty());
  EXPECT_EQ(translator.text("c d", found[2][0]), "d c");
}

TEST_F(Evaluation, RefusesLinesAndModelsThatDoNotFit) {
  const std::string folder = translator("model", 1);
  LineTranslator translator = opened({folder, folder});
  EXPECT_EQ(translator.models().size(), 2u);
  EXPECT_THROW(translator.tokens("\xff", "line"), Error);
  std::string line;
  for (std::size_t i = 0; i <= kMaxLineTokens; ++i) line += "a ";
  SentencePairs pairs{{"a", line}, {"a", "b"}, "", ""};
  EXPECT_THAT(error_of([&] { evaluate(translator, pairs, {}, {}, "pairs.tsv"); }),
              HasSubstr("[pairs.tsv, pair 2] must be at most 4096 tokens"));
  EXPECT_THROW(LineTranslator({}), Error);
  ModelFolder other = open_model_folder(folder);
  other.tokenizer = Tokenizer::train(std::vector<std::string>{"g h i j k l"});
  EXPECT_THROW(LineTranslator({open_model_folder(folder), other}), Error);
}

TEST_F(Evaluation, AnAverageIsAWholeFolderOrNone) {
  const ModelFolder model = open_model_folder(translator("model", 1));
  const std::vector<ModelFolder> two = {model, model};
  save_average(two, path("deep/mean/"));
  EXPECT_EQ(contents_of(path("deep/mean")).at("model.safetensors"),
            contents_of(path("model")).at("model.safetensors"));
  EXPECT_THROW(save_average(two, path("deep/mean")), Error) << "the folder is there";
  ModelFolder other = model;
  other.config.length += 1;
  EXPECT_THROW(save_average(std::vector<ModelFolder>{model, other}, path("deep/other")), Error);
  EXPECT_THROW(save_average(std::vector<ModelFolder>{model}, path("deep/one")), Error);
  std::filesystem::create_directories(path("deep/mean2.partial-999999999"));  // of a killed process
  save_average(two, path("deep/mean2"));
  for (const auto& entry : std::filesystem::directory_iterator(path("deep"))) {
    EXPECT_TRUE(entry.path().filename() == "mean" || entry.path().filename() == "mean2") << entry;
  }
}

}  // namespace
}  // namespace sextant
