// Texts and pairs to learn from: split into what is trained on and what is held out, and tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/text/pairs.h"
#include "sextant/text/tokenizer.h"

namespace sextant {

// What a text is divided into: <eos> follows each document, and the last documents are held
// out. Lines that are empty or have white space alone divide paragraphs, lines "<|endoftext|>" what
// such lines end.
enum class DocumentUnit { none, file, paragraph, line, endoftext };
std::string_view name_of(DocumentUnit unit) noexcept;

// Writes the tokens of text files, those of all one after the other, into a file that
// load_token_file() reads. Neither the texts nor the tokens are in memory. Throws Error as
// load_texts(), but for large files, and when the file cannot be written.
void tokenize_texts(std::span<const std::string> paths, const Tokenizer& tokenizer,
                    DocumentUnit documents, const std::string& output);

// A text as tokens, those of all files one after the other.
struct LanguageData {
  Tokenizer tokenizer;
  std::vector<std::int64_t> tokens, held_out;
};

// Texts whose ends are held out.
struct SplitTexts {
  std::vector<std::string> train, held_out;

  // Holds out the last part of a text, 0 < part < 1: from a line's beginning on if there is one.
  void add(std::string_view text, double part);
  LanguageData encode(Tokenizer tokenizer) const;
};

struct LanguageDataOptions {
  double held_out = 0.1;  // part at the end of each text, 0 < held_out < 1
  // Learned from the part that is not held out. 0 sub-words: kSubwords.
  TokenizerTraining tokenizer{.kind = TokenizerKind::character};
};
inline constexpr std::int64_t kSubwords = 4000, kPairSubwords = 12000;

// Throws Error for files that cannot be read or hold no text, and as Tokenizer::train().
LanguageData load_language_data(std::span<const std::string> paths,
                                const LanguageDataOptions& options = {});
LanguageData load_language_data(const std::string& path, const LanguageDataOptions& options = {});

// Pairs as tokens.
struct TokenPairs {
  std::vector<std::vector<std::int64_t>> source, target;

  // Pairs of which a side has no token are left out.
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
  double held_out = 0.1;  // part of the pairs, chosen at random, 0 < held_out < 1
  PairColumns columns{};
  TokenizerTraining tokenizer{};
};
// Throws Error as load_pairs() and translation_data().
TranslationData load_translation_data(const std::string& path,
                                      const TranslationDataOptions& options = {});

// Takes out and returns a part of the pairs, one at least, chosen at random but always alike.
SentencePairs hold_out(SentencePairs& pairs, double part);

}  // namespace sextant
