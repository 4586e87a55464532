// The text of token ids as they arrive, one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/text/tokenizer.h"

namespace sextant {

// Each id in time that does not depend on how many came before. Of published models a character
// whose bytes are several tokens comes with the last of them. Borrows the tokenizer.
class TextDecoder {
 public:
  explicit TextDecoder(const Tokenizer& tokenizer) noexcept : tokenizer_(tokenizer) {}

  // What the next id adds to the text: Tokenizer::decode() of all ids is that of those before and
  // this. Throws Error for an id without a token.
  std::string add(std::int64_t id);
  // What is held back: a character whose bytes are not all there, as U+FFFD.
  std::string finish();
  // The same for the text of a token, as Tokenizer::join().
  void append(std::string_view token, std::string& text);

 private:
  std::string next_text(bool all);

  const Tokenizer& tokenizer_;
  bool begun_ = false;        // words: there is text
  bool after_break_ = false;  // words: it ends with a line break
  bool line_begun_ = false;   // sub-words: the line has text, or had the space that is left out
  // Published models: the last ids whose text was handed on, which say how the next ones join, and
  // those that wait for the rest of a character.
  std::vector<std::int64_t> ids_;
  std::size_t shown_ = 0;  // of ids_
};

}  // namespace sextant
