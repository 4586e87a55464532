// Small models that were trained for a moment, in folders of their own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/run_program.h"
#include "sextant/training/adamw.h"
#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/translation_task.h"

namespace sextant::app_tests {

inline TransformerConfig small_model(ModelKind kind) {
  TransformerConfig config{.kind = kind, .width = 32, .heads = 4, .layers = 2, .ffn_width = 64};
  return config;
}

inline void learn(TrainingTask& task, std::int64_t steps) {
  AdamW optimiser(task.parameters(), {.clip_norm = 1});
  Workspace memory;
  for (std::int64_t step = 0; step < steps; ++step) {
    set_to_zero(task.gradients());
    Pass pass{.memory = memory, .threads = 1};
    task.accumulate(step, 0, 1.0 / static_cast<double>(task.target_tokens(step)), pass);
    optimiser.step(task.parameters(), task.gradients(), 3e-3, 1);
  }
}

// Letters a to j, again and again: what comes next is certain.
inline void save_alphabet_model(const std::string& folder, ModelKind kind = ModelKind::causal,
                                TransformerConfig config = small_model(ModelKind::causal)) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "abcdefghij";
  const Tokenizer tokenizer =
      Tokenizer::train(std::vector<std::string>{text}, {.kind = TokenizerKind::character});
  config.kind = kind;
  LanguageTask task({tokenizer, tokenizer.encode(text), tokenizer.encode(text.substr(0, 100))},
                    config, {.length = 20, .batch_size = 4});
  learn(task, kind == ModelKind::causal ? 60 : 300);
  task.save_model(folder);
}

// Words: "to be or not to be", again and again.
inline void save_word_model(const std::string& folder) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "to be or not , that is the Frage für ☃ . ";
  const Tokenizer tokenizer = Tokenizer::train(std::vector<std::string>{text});
  LanguageTask task({tokenizer, tokenizer.encode(text), tokenizer.encode(text)},
                    small_model(ModelKind::causal), {.length = 16, .batch_size = 4});
  learn(task, 60);
  task.save_model(folder);
}

// Two words of a to f, which the translation turns around: "a b" is "b a".
inline SentencePairs turned_words() {
  SentencePairs pairs;
  for (char a = 'a'; a <= 'f'; ++a) {
    for (char b = 'a'; b <= 'f'; ++b) {
      pairs.source.push_back(std::string(1, a) + " " + b);
      pairs.target.push_back(std::string(1, b) + " " + a);
    }
  }
  return pairs;
}

inline void save_turning_model(const std::string& folder, bool pointer = false) {
  const SentencePairs pairs = turned_words();
  const Tokenizer tokenizer = Tokenizer::train(pairs.source);
  const auto tokens = TokenPairs::encode(pairs, tokenizer);
  TransformerConfig config = small_model(ModelKind::translator);
  config.pointer = pointer;
  TranslationTask task({tokenizer, tokens, tokens}, config,
                       {.batch_size = 18, .label_smoothing = 0});
  learn(task, 100);
  task.save_model(folder);
}

// The folder of such a model, trained once for all tests of a program's run; Save is a type of its
// own for each.
template <class Save>
const std::string& trained_once(const Save& save) {
  static const Folder folder;
  static const std::string path = [&] {
    save(folder / "model");
    return folder / "model";
  }();
  return path;
}

inline const std::string& alphabet_model() {
  return trained_once([](const std::string& folder) { save_alphabet_model(folder); });
}

inline const std::string& turning_model() {
  return trained_once([](const std::string& folder) { save_turning_model(folder); });
}

}  // namespace sextant::app_tests
