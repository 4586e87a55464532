// The text of token ids as they arrive, one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/text/tokenizer.h"

namespace sextant {

// Each id in time that does not depend on how many came before. Borrows the tokenizer.
class TextDecoder {
 public:
  explicit TextDecoder(const Tokenizer& tokenizer) noexcept : tokenizer_(tokenizer) {}

  // What the next id adds to the text: Tokenizer::decode() of all ids is that of those before and
  // this. Throws Error for an id outside 0 .. size() - 1.
  std::string add(std::int64_t id);
  // The same for the text of a token, as Tokenizer::join().
  void append(std::string_view token, std::string& text);

 private:
  const Tokenizer& tokenizer_;
  bool begun_ = false;        // words: there is text
  bool after_break_ = false;  // words: it ends with a line break
  bool line_begun_ = false;   // sub-words: the line has text, or had the space that is left out
};

}  // namespace sextant
