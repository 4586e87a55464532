// Where data is split, and its tokens.
#include "sextant/training/tasks/text_data.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/utf8.h"
#include "sextant/training/tasks/epochs.h"
#include "training/tasks/task_fields.h"

namespace sextant {
namespace {

// Where the held-out end of a text begins: after a line break if there is one.
std::size_t split_of(std::string_view text, double held_out) {
  const auto at = static_cast<std::size_t>(static_cast<double>(text.size()) * (1 - held_out));
  const std::size_t line = text.find('\n', at);
  if (line != std::string_view::npos && line + 1 < text.size()) return line + 1;
  std::size_t split = at;  // not inside a character
  while (split < text.size() && continues_character(text[split])) ++split;
  return split;
}

std::vector<std::int64_t> encode_all(const Tokenizer& tokenizer,
                                     const std::vector<std::string>& texts) {
  std::vector<std::int64_t> tokens;
  for (const std::string& text : texts) {
    const auto ids = tokenizer.encode(text);
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  return tokens;
}

Tokenizer trained(const std::vector<std::string>& texts, TokenizerTraining training,
                  std::int64_t subwords) {
  if (training.kind == TokenizerKind::subword && training.vocabulary_size == 0) {
    training.vocabulary_size = subwords;
  }
  return Tokenizer::train(texts, training);
}

}  // namespace

void SplitTexts::add(std::string_view text, double part) {
  check_range(kPortion, "language_data.held_out", part);
  const std::size_t split = split_of(text, part);
  train.emplace_back(text.substr(0, split));
  held_out.emplace_back(text.substr(split));
}

LanguageData SplitTexts::encode(Tokenizer tokenizer) const {
  auto tokens = encode_all(tokenizer, train), end = encode_all(tokenizer, held_out);
  return {std::move(tokenizer), std::move(tokens), std::move(end)};
}

LanguageData load_language_data(std::span<const std::string> paths,
                                const LanguageDataOptions& options) {
  SplitTexts texts;
  for (const std::string& path : paths) {
    texts.add(load_texts(path, TextUnit::file).front(), options.held_out);
  }
  return texts.encode(trained(texts.train, options.tokenizer, kSubwords));
}

LanguageData load_language_data(const std::string& path, const LanguageDataOptions& options) {
  return load_language_data(std::span(&path, 1), options);
}

TokenPairs TokenPairs::encode(const SentencePairs& pairs, const Tokenizer& tokenizer) {
  TokenPairs result;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    auto source = tokenizer.encode(pairs.source[i]), target = tokenizer.encode(pairs.target[i]);
    if (source.empty() || target.empty()) continue;
    result.source.push_back(std::move(source));
    result.target.push_back(std::move(target));
  }
  return result;
}

TranslationData translation_data(const SentencePairs& pairs, const SentencePairs& held_out,
                                 const TokenizerTraining& training) {
  std::vector<std::string> texts = pairs.source;
  texts.insert(texts.end(), pairs.target.begin(), pairs.target.end());
  Tokenizer tokenizer = trained(texts, training, kPairSubwords);
  auto tokens = TokenPairs::encode(pairs, tokenizer), end = TokenPairs::encode(held_out, tokenizer);
  return {std::move(tokenizer), std::move(tokens), std::move(end)};
}

TranslationData load_translation_data(const std::string& path,
                                      const TranslationDataOptions& options) {
  check_fields("translation_data", options);
  SentencePairs pairs = load_pairs(path, options.columns);
  const SentencePairs held_out = hold_out(pairs, options.held_out);
  return translation_data(pairs, held_out, options.tokenizer);
}

SentencePairs hold_out(SentencePairs& pairs, double part) {
  const auto count = static_cast<std::int64_t>(pairs.source.size());
  const auto wanted = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::llround(static_cast<double>(count) * part)));
  Epochs order(count, 0);  // a separate order, for any seed of the run
  std::vector<bool> held(pairs.source.size());
  for (std::int64_t i = 0; i < wanted; ++i) held[static_cast<std::size_t>(order(i))] = true;
  SentencePairs rest, held_out;
  for (std::size_t i = 0; i < held.size(); ++i) {
    SentencePairs& to = held[i] ? held_out : rest;
    to.source.push_back(std::move(pairs.source[i]));
    to.target.push_back(std::move(pairs.target[i]));
  }
  pairs = std::move(rest);
  return held_out;
}

}  // namespace sextant
