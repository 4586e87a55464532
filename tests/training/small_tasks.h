// Models of a few hundred numbers with data of their own.
#pragma once

#include <string>
#include <vector>

#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/translation_task.h"

namespace sextant {

// Widths that are no multiples of 4: batches begin anywhere among the numbers of a counter.
inline TransformerConfig small(ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.width = 30;
  config.heads = 3;
  config.layers = 2;
  config.ffn_width = 57;
  config.pointer = kind == ModelKind::translator;
  config.schemes = {"sinusoidal"};  // a hidden word is not a row of zeros, whose norm is a cliff
  return config;
}

inline std::string text_of(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>('a' + i * i % 11);
  return text;
}

inline LanguageTask language_task(ModelKind kind, std::int64_t parts) {
  const std::string text = text_of(400);
  const Tokenizer tokenizer =
      Tokenizer::train(std::vector<std::string>{text}, {.kind = TokenizerKind::character});
  const auto tokens = tokenizer.encode(text);
  return {{tokenizer, tokens, tokens},
          small(kind),
          {.length = 7,
           .batch_size = 5,
           .accumulation_steps = parts,
           .label_smoothing = 0.1,
           .mask_probability = 0.3}};
}

// Sentences of uneven lengths, sources and targets apart.
inline TranslationTask translation_task(std::int64_t parts) {
  SentencePairs pairs;
  for (int i = 0; i < 20; ++i) {
    pairs.source.push_back(text_of(3 + i % 7));
    pairs.target.push_back(text_of(2 + i * i % 9));
  }
  const Tokenizer tokenizer = Tokenizer::train(pairs.source, {.kind = TokenizerKind::character});
  const auto tokens = TokenPairs::encode(pairs, tokenizer);
  return {{tokenizer, tokens, tokens},
          small(ModelKind::translator),
          {.batch_size = 6, .accumulation_steps = parts, .label_smoothing = 0.1}};
}

}  // namespace sextant
