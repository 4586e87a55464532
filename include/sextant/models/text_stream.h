// Makes the text of a model while its tokens are generated.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "sextant/text/text_decoder.h"

namespace sextant {

// Passes on the text that each token adds: a word with the space before it, a part of a word.
// decode() gives whole characters, so the parts are UTF-8 too.
class TextStream {
 public:
  // Continues `prompt`, whose tokens are `ids`. `stop` ends the text and is not part of it; empty:
  // none. `show` gets every new part.
  TextStream(const Tokenizer& tokenizer, std::string_view prompt, std::span<const std::int64_t> ids,
             std::string stop, std::function<void(std::string_view)> show);

  // Adds the next token. Returns false if the stop text was found; then no more may follow.
  bool add(std::int64_t token);
  // Shows the text that was held back because it could have been the beginning of the stop text or
  // of a character.
  void finish();
  const std::string& text() const noexcept { return text_; }  // without the prompt
  bool stopped() const noexcept { return stopped_; }

 private:
  bool add_text(std::string part);
  void show_up_to(std::size_t end);

  TextDecoder decoder_;
  bool space_shown_;  // the prompt ends with the space that the next word would add
  std::string stop_;
  std::function<void(std::string_view)> show_;
  std::string text_;
  std::size_t shown_ = 0;
  bool stopped_ = false;
};

}  // namespace sextant
