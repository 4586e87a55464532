// Where texts and pairs are split, and from a file to a trained model.
#include "sextant/training/tasks/text_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/models/generate.h"
#include "sextant/training/evaluate.h"
#include "sextant/training/tasks/language_task.h"
#include "training/run_folders.h"

namespace sextant {
namespace {

using TextData = RunFolders;

TEST_F(TextData, TheEndIsHeldOutFromALineOn) {
  SplitTexts texts;
  texts.add("one\ntwo\nthree\nfour\n", 0.5);  // the middle lies inside "three"
  EXPECT_EQ(texts.train[0], "one\ntwo\nthree\n");
  EXPECT_EQ(texts.held_out[0], "four\n");
  texts.add("abcdefgh", 0.25);
  EXPECT_EQ(texts.held_out[1], "gh");
  texts.add("abc\n", 0.3);  // nothing lies behind the line break
  EXPECT_EQ(texts.held_out[2], "c\n");
  EXPECT_THROW(texts.add("abc", 0), Error);
  EXPECT_THROW(texts.add("abc", 1), Error);
}

TEST_F(TextData, ACharacterIsNotSplit) {
  SplitTexts texts;
  texts.add("aa\u00e9bb", 0.5);  // 6 bytes, of which the second half begins inside the third letter
  EXPECT_EQ(texts.train[0], "aa\u00e9");
  EXPECT_EQ(texts.held_out[0], "bb");
}

TEST_F(TextData, FilesBecomeOneStreamEach) {
  write_file(path("a"), "ab\nab\nab\nba\n");
  write_file(path("b"), "cc\ncc\ncc\ncd\n");
  const std::vector<std::string> paths = {path("a"), path("b")};
  const LanguageData data = load_language_data(paths, {.held_out = 0.25});
  EXPECT_EQ(data.tokenizer.decode(data.tokens), "ab\nab\nab\ncc\ncc\ncc\n");
  EXPECT_EQ(data.held_out.size(), 6u);
  // Only what is learned makes the tokenizer.
  EXPECT_EQ(data.held_out.back(), data.tokenizer.encode("\n")[0]);
  EXPECT_EQ(data.held_out[4], Tokenizer::kUnk) << "d is in the held-out part alone";
}

TEST_F(TextData, PairsAreHeldOutOnceAndAlwaysAlike) {
  SentencePairs pairs;
  for (int i = 0; i < 40; ++i) {
    pairs.source.push_back(std::to_string(i));
    pairs.target.push_back("-" + std::to_string(i));
  }
  SentencePairs again = pairs;
  const SentencePairs held_out = hold_out(pairs, 0.1);
  EXPECT_EQ(held_out.source.size(), 4u);
  EXPECT_EQ(pairs.source.size(), 36u);
  std::set<std::string> all(pairs.source.begin(), pairs.source.end());
  all.insert(held_out.source.begin(), held_out.source.end());
  EXPECT_EQ(all.size(), 40u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(held_out.target[i], "-" + held_out.source[i]);
  EXPECT_EQ(hold_out(again, 0.1).source, held_out.source);
  EXPECT_EQ(hold_out(again, 1e-9).source.size(), 1u);
}

TEST_F(TextData, PairsFromAFileAreSplitAndMadeTokens) {
  std::string lines;
  for (char a = 'a'; a <= 'y'; ++a) lines += std::string(1, a) + "\t1 " + a + "\n";
  write_file(path("pairs.tsv"), lines + "\t\n");
  EXPECT_THROW(load_translation_data(path("pairs.tsv")), Error) << "a line without a side";
  write_file(path("pairs.tsv"), lines);
  const TranslationData data = load_translation_data(path("pairs.tsv"), {.held_out = 0.2});
  EXPECT_EQ(data.pairs.source.size(), 20u);
  ASSERT_EQ(data.held_out.source.size(), 5u);
  EXPECT_EQ(data.tokenizer.size(), Tokenizer::kUnk + 1 + 20 + 1);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(data.tokenizer.decode(data.pairs.target[i]),
              "1 " + data.tokenizer.decode(data.pairs.source[i]));
  }
  // Words of the held-out pairs are not learned.
  EXPECT_EQ(data.held_out.source[0], std::vector<std::int64_t>{Tokenizer::kUnk});
  EXPECT_EQ(data.held_out.target[0].size(), 2u);
  const auto reversed =
      load_translation_data(path("pairs.tsv"), {.held_out = 0.2, .columns = {1, 0}});
  EXPECT_EQ(reversed.pairs.source, data.pairs.target);
  EXPECT_THROW(load_translation_data(path("pairs.tsv"), {.held_out = 1}), Error);
}

// The way of a program that uses the library.
TEST_F(TextData, FromAFileToAModelThatPredictsIt) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "abcdefghij";
  write_file(path("letters.txt"), text);
  const LanguageData data = load_language_data(path("letters.txt"), {.held_out = 0.2});
  LanguageTask task(data, {.width = 32, .heads = 4, .layers = 1}, {.length = 20, .batch_size = 4});
  train(task, {.steps = 60,
               .folder = path("run"),
               .optimiser = {.clip_norm = 1},
               .schedule = {.peak = 3e-3, .warmup = 5},
               .threads = 1});
  const TextScore score = evaluate(task.model(), "abcdefghijabcdefghijabcde",
                                   {.length = 20, .stride = 5, .threads = 1});
  EXPECT_EQ(score.tokens, 25);
  ASSERT_EQ(score.windows.size(), 2u);
  EXPECT_EQ(score.windows[0].stride, 20);
  EXPECT_EQ(score.windows[1].stride, 5);
  for (const auto& windows : score.windows) {
    EXPECT_GT(windows.correct_percent, 95);
    EXPECT_LT(windows.perplexity, 1.5);
    EXPECT_NEAR(windows.bits_per_character, std::log2(windows.perplexity), 1e-12);
  }
  const GenerateOptions options{.max_tokens = 4, .sampling = {.temperature = 0}, .threads = 1};
  std::vector<std::string> parts;
  const std::string made = generate(task.model(), "abc", options,
                                    [&parts](std::string_view part) { parts.emplace_back(part); });
  EXPECT_EQ(made, "defg");
  EXPECT_EQ(parts, (std::vector<std::string>{"d", "e", "f", "g"}));
  const TextModel loaded = TextModel::load(path("run"));
  EXPECT_EQ(generate(loaded, "abc", options), made);
  EXPECT_THROW(generate(loaded, "", options), Error);
  EXPECT_THROW(generate(loaded, "\xff", options), Error);
}

}  // namespace
}  // namespace sextant
