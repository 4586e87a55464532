// Learns a tokenizer's tokens: counted words or characters, or a SentencePiece model.
#include <algorithm>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/text/libraries.h"
#include "sextant/text/tokenizer.h"
#include "text/tokenizer_fields.h"
#include "text/tokenizer_parts.h"
#include "text/tokenizer_trainer.h"

namespace sextant {
namespace {

constexpr auto kSpecials = static_cast<std::int64_t>(text::kSpecialTokens.size());

// The special tokens, then the commonest others, equal counts by code point (the order of UTF-8
// bytes).
std::vector<std::string> most_common(const std::unordered_map<std::string, std::int64_t>& counts,
                                     const TokenizerTraining& options) {
  std::vector<std::pair<std::string, std::int64_t>> kept;
  for (const auto& [token, count] : counts) {
    if (count >= options.minimum_count) kept.emplace_back(token, count);
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  const auto most = static_cast<std::size_t>(options.vocabulary_size - kSpecials);
  if (options.vocabulary_size != 0 && kept.size() > most) kept.resize(most);
  std::vector<std::string> tokens(text::kSpecialTokens.begin(), text::kSpecialTokens.end());
  for (auto& [token, count] : kept) tokens.push_back(std::move(token));
  return tokens;
}

// Before a text is read.
void check_without_libraries(const TokenizerTraining& options) {
  if (options.kind == TokenizerKind::subword) {
    throw Error("tokenizer.kind",
                "must be word or character: subword needs SentencePiece, which this build of "
                "sextant is without");
  }
  if (options.kind == TokenizerKind::word && options.split_punctuation) {
    throw Error("tokenizer.split_punctuation",
                "must be no: to split words at punctuation needs ICU, which this build of sextant "
                "is without");
  }
}

}  // namespace

void check_options(const TokenizerTraining& options) {
  check_fields("tokenizer", options);
  if (!has_text_libraries()) check_without_libraries(options);
  if (options.kind == TokenizerKind::subword) {
    if (options.subword != SubwordKind::unigram && options.subword != SubwordKind::bpe) {
      throw Error("tokenizer.subword", "must be unigram or bpe");
    }
    if (options.vocabulary_size < 8 || options.vocabulary_size > 1'000'000) {
      throw Error("tokenizer.vocabulary_size",
                  "must be in 8 .. 1000000, got " + std::to_string(options.vocabulary_size));
    }
  } else if (options.vocabulary_size != 0 && options.vocabulary_size <= kSpecials) {
    throw Error("tokenizer.vocabulary_size",
                "must be 0 (all) or >= 5, got " + std::to_string(options.vocabulary_size));
  }
}

TokenizerTrainer::TokenizerTrainer(const TokenizerTraining& options)
    : options_((check_options(options), options)),
      rules_({options.kind, options.lower_case, options.split_punctuation},
             {text::kSpecialTokens.begin(), text::kSpecialTokens.end()}, std::nullopt) {}

void TokenizerTrainer::add(std::string_view piece) {
  const std::string ready = rules_.prepared(piece);
  if (options_.kind == TokenizerKind::subword) {
    if (lines_.size() + ready.size() > kLongestSubwordText) {
      throw Error("tokenizer.texts",
                  "must be at most 268435456 bytes long for sub-words to be learned, got more: "
                  "learn them from a part, and take that tokenizer for the whole");
    }
    lines_ += ready;
    return;
  }
  for (std::string& token : options_.kind == TokenizerKind::word
                                ? text::words(ready, options_.split_punctuation, true)
                                : text::characters(ready)) {
    ++counts_[std::move(token)];
  }
}

void TokenizerTrainer::end_text() {
  if (options_.kind == TokenizerKind::subword) lines_ += '\n';
}

Tokenizer TokenizerTrainer::finish() {
  const Tokenizer::Settings settings{options_.kind, options_.lower_case,
                                     options_.split_punctuation};
  std::vector<std::string> tokens(text::kSpecialTokens.begin(), text::kSpecialTokens.end());
  if (options_.kind == TokenizerKind::subword) {
    tokens.emplace_back("\n");
    const std::string lines = std::move(lines_);
    return Tokenizer(
        settings, std::move(tokens),
        SubwordTokenizer::train_on(
            lines, {.vocabulary_size = options_.vocabulary_size, .kind = options_.subword},
            "tokenizer.texts"));
  }
  for (const char* special : text::kSpecialTokens) counts_.erase(special);
  tokens = most_common(counts_, options_);
  if (tokens.size() == text::kSpecialTokens.size()) {
    throw Error(
        "tokenizer.texts",
        "must hold a token to learn" +
            std::string(options_.minimum_count == 1
                            ? ""
                            : " that occurs " + std::to_string(options_.minimum_count) + " times"));
  }
  return Tokenizer(settings, std::move(tokens), std::nullopt);
}

Tokenizer Tokenizer::train(std::span<const std::string> texts, const TokenizerTraining& options) {
  TokenizerTrainer trainer(options);
  for (const std::string& each : texts) {
    trainer.add(each);
    trainer.end_text();
  }
  return trainer.finish();
}

}  // namespace sextant
