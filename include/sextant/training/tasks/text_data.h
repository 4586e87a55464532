// Prepares texts and pairs for training: splits training and held-out data, and makes tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/text/pairs.h"
#include "sextant/text/tokenizer.h"

namespace sextant {

// The division of a text: <eos> follows each document, and the last documents are held out. Lines
// that are empty or have only white space divide paragraphs; lines "<|endoftext|>" end the
// documents of that unit.
enum class DocumentUnit { none, file, paragraph, line, endoftext };
std::string_view name_of(DocumentUnit unit) noexcept;

// Writes the tokens of text files, one file after the other, into a file that load_token_file()
// reads. Neither the texts nor the tokens are in memory. Throws Error as load_texts(), except for
// large files, and if the file cannot be written.
void tokenize_texts(std::span<const std::string> paths, const Tokenizer& tokenizer,
                    DocumentUnit documents, const std::string& output);

// A text as tokens, one file after the other.
struct LanguageData {
  Tokenizer tokenizer;
  std::vector<std::int64_t> tokens, held_out;
};

// Texts whose ends are held out.
struct SplitTexts {
  std::vector<std::string> train, held_out;

  // Holds out the last part of a text, 0 < part < 1, from the beginning of a line if there is one.
  void add(std::string_view text, double part);
  LanguageData encode(Tokenizer tokenizer) const;
};

struct LanguageDataOptions {
  double held_out = 0.1;  // share of the end of each text, 0 < held_out < 1
  // Learned from the training part. 0 sub-words: kSubwords.
  TokenizerTraining tokenizer{.kind = TokenizerKind::character};
};
inline constexpr std::int64_t kSubwords = 4000, kPairSubwords = 12000;

// Throws Error for files that cannot be read or have no text, and as Tokenizer::train().
LanguageData load_language_data(std::span<const std::string> paths,
                                const LanguageDataOptions& options = {});
LanguageData load_language_data(const std::string& path, const LanguageDataOptions& options = {});

// Pairs as tokens.
struct TokenPairs {
  std::vector<std::vector<std::int64_t>> source, target;

  // Encodes pairs; pairs with a side without tokens are omitted.
  static TokenPairs encode(const SentencePairs& pairs, const Tokenizer& tokenizer);
};

struct TranslationData {
  Tokenizer tokenizer;
  TokenPairs pairs, held_out;
};

// The tokenizer is trained on both sides of `pairs`. 0 sub-words: kPairSubwords. Throws Error as
// Tokenizer::train().
TranslationData translation_data(const SentencePairs& pairs, const SentencePairs& held_out,
                                 const TokenizerTraining& tokenizer = {});

struct TranslationDataOptions {
  double held_out = 0.1;  // share of the pairs, chosen at random, 0 < held_out < 1
  PairColumns columns{};
  TokenizerTraining tokenizer{};
};
// Throws Error as load_pairs() and translation_data().
TranslationData load_translation_data(const std::string& path,
                                      const TranslationDataOptions& options = {});

// Removes and returns a share of the pairs, at least one, chosen at random but always the same.
SentencePairs hold_out(SentencePairs& pairs, double part);

}  // namespace sextant
