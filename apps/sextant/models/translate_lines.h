// Lines of text through a translator: what `translate` and `evaluate` share.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/model_option.h"
#include "sextant/models/translate.h"
#include "sextant/text/tokenizer.h"

namespace sextant::app {

inline constexpr std::size_t kMostLineTokens = 4096;  // of a sentence

// The models of --model and the tokenizer that they share.
class Translators {
 public:
  // Throws Error as ModelOption::open_all(), and for tokenizers that differ.
  explicit Translators(const ModelOption& option);

  const std::vector<ModelFolder>& folders() const { return folders_; }
  const Tokenizer& tokenizer() const { return folders_[0].tokenizer; }
  Translator<float>& first() { return models_[0]; }
  std::vector<Translator<float>*> all();

  // The hypotheses of each line; none for a line without a token.
  std::vector<std::vector<Hypothesis>> translate(std::span<const std::vector<std::int64_t>> lines,
                                                 const Translation& options);
  // A hypothesis of a line. What the tokenizer does not know, a pointer can still copy: it is then
  // the unknown token of the line that the first model looked at most.
  std::string text(std::string_view line, const Hypothesis& found, int threads);

 private:
  std::vector<ModelFolder> folders_;
  std::vector<Translator<float>> models_;
};

// --beam and --length-penalty.
void add_search(CLI::App& command, BeamSearch& search);

// The tokens of a line. Throws Error that names `where` for a line that is not UTF-8 or longer than
// kMostLineTokens.
std::vector<std::int64_t> line_tokens(const Tokenizer& tokenizer, std::string_view line,
                                      const std::string& where);

}  // namespace sextant::app
