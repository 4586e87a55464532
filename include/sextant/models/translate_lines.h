// Lines of text through a translator, or an ensemble of some.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/text_model.h"
#include "sextant/models/translate.h"

namespace sextant {

inline constexpr std::size_t kMaxLineTokens = 4096;  // of a sentence

// What an encoder reads of a sentence: its tokens, with what published models were trained to find
// around them (T5's </s>); none where it has no token of its own.
std::vector<std::int64_t> source_tokens(const Tokenizer& tokenizer, std::string_view sentence);

// The options for a text of this model, with what it does not write where `never` is unset.
TranslateOptions for_text(const TextTranslator& model, TranslateOptions options);

// The best translation of a sentence; empty for one without a token. Throws Error as the
// translate() of tokens, and for a sentence that is not UTF-8.
std::string translate(const TextTranslator& model, std::string_view sentence,
                      const TranslateOptions& options = {});

// Several sentences, by one model or an ensemble.
class LineTranslator {
 public:
  // Throws Error for no model, tokenizers that differ, and as TextTranslator::load().
  explicit LineTranslator(std::vector<ModelFolder> folders);
  // Of one model that is in memory, with no folder.
  explicit LineTranslator(TextTranslator model);

  const std::vector<ModelFolder>& folders() const noexcept { return folders_; }
  const Tokenizer& tokenizer() const noexcept { return first().tokenizer; }
  std::vector<const Translator<float>*> models() const;
  std::span<const TextTranslator> translators() const noexcept { return models_; }
  const TextTranslator& first() const noexcept { return models_.front(); }

  // What an encoder reads of a line (source_tokens()), or the tokens of a translation. Throws Error
  // that names `where` for a line that is not UTF-8 or has more than kMaxLineTokens.
  std::vector<std::int64_t> tokens(std::string_view line, const std::string& where,
                                   bool translation = false) const;
  // The hypotheses of each line, given as tokens; none for a line without a token.
  std::vector<std::vector<Hypothesis>> hypotheses(std::span<const std::vector<std::int64_t>> lines,
                                                  const TranslateOptions& options = {}) const;
  // The text of a hypothesis of a line. What the tokenizer does not know, a pointer can still copy:
  // it is then the unknown token of the line that the first model looked at most. translate() gives
  // this text too.
  std::string text(std::string_view line, const Hypothesis& found, int threads = 0) const;

 private:
  std::vector<ModelFolder> folders_;
  std::vector<TextTranslator> models_;
};

}  // namespace sextant
