// Translates lines of text with a translator, or an ensemble of several.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/text_model.h"
#include "sextant/models/translate.h"

namespace sextant {

inline constexpr std::size_t kMaxLineTokens = 4096;  // tokens of a sentence

// Returns the input of an encoder for a sentence: its tokens, with those that published models
// expect around them (T5's </s>); none if the sentence has no token of its own.
std::vector<std::int64_t> source_tokens(const Tokenizer& tokenizer, std::string_view sentence);

// Returns the options for a text of this model, with the tokens that it does not write if `never`
// is unset.
TranslateOptions for_text(const TextTranslator& model, TranslateOptions options);

// Returns the best translation of a sentence; empty for one without a token. Throws Error as the
// translate() of tokens, and for a sentence that is not UTF-8.
std::string translate(const TextTranslator& model, std::string_view sentence,
                      const TranslateOptions& options = {});

// Translates several sentences, with one model or an ensemble.
class LineTranslator {
 public:
  // Throws Error for no model, tokenizers that differ, and as TextTranslator::load().
  explicit LineTranslator(std::vector<ModelFolder> folders);
  // Uses models that are in memory, without folders; all have the tokenizer of the first.
  explicit LineTranslator(TextTranslator first, std::vector<TextTranslator> others = {});

  const std::vector<ModelFolder>& folders() const noexcept { return folders_; }
  const Tokenizer& tokenizer() const noexcept { return first().tokenizer; }
  std::vector<const Translator<float>*> models() const;
  std::span<const TextTranslator> translators() const noexcept { return models_; }
  const TextTranslator& first() const noexcept { return models_.front(); }
  TextTranslator& first() noexcept { return models_.front(); }

  // Returns the encoder's input for a line (source_tokens()), or the tokens of a translation.
  // Throws an Error with `where` for a line that is not UTF-8 or has more than kMaxLineTokens.
  std::vector<std::int64_t> tokens(std::string_view line, const std::string& where,
                                   bool translation = false) const;
  // Returns the hypotheses of each line, given as tokens; none for a line without a token.
  std::vector<std::vector<Hypothesis>> hypotheses(std::span<const std::vector<std::int64_t>> lines,
                                                  const TranslateOptions& options = {}) const;
  // Returns the text of a hypothesis of a line. A pointer can copy a word that the tokenizer does
  // not know: it is then the unknown token of the line that the first model attended to most.
  // translate() returns this text too.
  std::string text(std::string_view line, const Hypothesis& found, int threads = 0) const;

 private:
  std::vector<ModelFolder> folders_;
  std::vector<TextTranslator> models_;
};

}  // namespace sextant
