// Learns a tokenizer's tokens: counted words or characters, or a SentencePiece model.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/text/libraries.h"
#include "sextant/text/tokenizer.h"
#include "text/tokenizer_fields.h"
#include "text/tokenizer_parts.h"

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

Tokenizer Tokenizer::train(std::span<const std::string> texts, const TokenizerTraining& options) {
  check_options(options);
  const Settings settings{options.kind, options.lower_case, options.split_punctuation};
  std::vector<std::string> tokens(text::kSpecialTokens.begin(), text::kSpecialTokens.end());
  Tokenizer rules(settings, tokens, std::nullopt);
  std::unordered_map<std::string, std::int64_t> counts;
  std::string all;
  for (const std::string& each : texts) {
    const std::string ready = rules.prepared(each);
    if (options.kind == TokenizerKind::subword) {
      all += ready + '\n';
    } else {
      for (std::string& token : options.kind == TokenizerKind::word
                                    ? text::words(ready, options.split_punctuation, true)
                                    : text::characters(ready)) {
        ++counts[std::move(token)];
      }
    }
  }
  if (options.kind == TokenizerKind::subword) {
    tokens.emplace_back("\n");
    return Tokenizer(settings, std::move(tokens),
                     SubwordTokenizer::train_on(
                         all, {.vocabulary_size = options.vocabulary_size, .kind = options.subword},
                         "tokenizer.texts"));
  }
  for (const char* special : text::kSpecialTokens) counts.erase(special);
  tokens = most_common(counts, options);
  if (tokens.size() == text::kSpecialTokens.size()) {
    throw Error("tokenizer.texts",
                "must hold a token to learn" +
                    std::string(options.minimum_count == 1
                                    ? ""
                                    : " that is there " + std::to_string(options.minimum_count) +
                                          " times"));
  }
  return Tokenizer(settings, std::move(tokens), std::nullopt);
}

}  // namespace sextant
