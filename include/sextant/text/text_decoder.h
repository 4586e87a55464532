// Decodes token ids as they arrive, one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/text/tokenizer.h"

namespace sextant {

// Decodes each id in a time that does not depend on the number before. For published models, a
// character whose bytes are several tokens comes with the last of them. Borrows the tokenizer.
class TextDecoder {
 public:
  explicit TextDecoder(const Tokenizer& tokenizer) noexcept : tokenizer_(tokenizer) {}

  // Returns the text that the next id adds: Tokenizer::decode() of all ids is the concatenation.
  // Throws Error for an id without a token.
  std::string add(std::int64_t id);
  // Returns the text held back: an incomplete character, as U+FFFD.
  std::string finish();
  // Appends the text of a token, as Tokenizer::join() does.
  void append(std::string_view token, std::string& text);

 private:
  std::string next_text(bool all);

  const Tokenizer& tokenizer_;
  bool begun_ = false;        // words: there is text
  bool after_break_ = false;  // words: the text ends with a line break
  bool line_begun_ = false;   // sub-words: the line has text, or had the space that is omitted
  // Published models: the last ids whose text was returned, which determine how the next ones join,
  // and those that wait for the rest of a character.
  std::vector<std::int64_t> ids_;
  std::size_t shown_ = 0;  // number of ids_ whose text was returned
};

}  // namespace sextant
