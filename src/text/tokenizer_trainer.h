// Implements Tokenizer::train() for texts that come in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sextant/text/tokenizer.h"

namespace sextant {

class TokenizerTrainer {
 public:
  // Throws Error as Tokenizer::train(), as all of it does.
  explicit TokenizerTrainer(const TokenizerTraining& options);

  // The next piece of a text. One that is not the last ends after a line break; of words and
  // characters a space will do.
  void add(std::string_view piece);
  void end_text();
  Tokenizer finish();

 private:
  TokenizerTraining options_;
  Tokenizer rules_;  // without tokens
  std::unordered_map<std::string, std::int64_t> counts_;
  std::string lines_;  // of sub-words
};

}  // namespace sextant
