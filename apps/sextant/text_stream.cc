// The text of a model as its tokens are made.
#include "text_stream.h"

#include <algorithm>
#include <utility>

namespace sextant::app {

TextStream::TextStream(const Tokenizer& tokenizer, std::string_view prompt,
                       std::vector<std::int64_t> ids, std::string stop,
                       std::function<void(std::string_view)> show)
    : tokenizer_(tokenizer),
      ids_(std::move(ids)),
      prompt_bytes_(tokenizer.decode(ids_).size()),
      space_shown_(tokenizer.kind() != TokenizerKind::character && prompt.ends_with(' ')),
      stop_(std::move(stop)),
      show_(std::move(show)) {}

void TextStream::show_up_to(std::size_t end) {
  if (end <= shown_) return;
  show_(std::string_view(text_).substr(shown_, end - shown_));
  shown_ = end;
}

bool TextStream::add(std::int64_t token) {
  ids_.push_back(token);
  text_ = tokenizer_.decode(ids_).substr(prompt_bytes_);
  if (space_shown_ && text_.starts_with(' ')) text_.erase(0, 1);
  if (stop_.empty()) {
    show_up_to(text_.size());
    return true;
  }
  if (const std::size_t found = text_.find(stop_); found != std::string::npos) {
    text_.resize(found);
    stopped_ = true;
    show_up_to(text_.size());
    return false;
  }
  std::size_t held = std::min(stop_.size() - 1, text_.size());
  while (!text_.ends_with(std::string_view(stop_).substr(0, held))) --held;
  show_up_to(text_.size() - held);
  return true;
}

void TextStream::finish() { show_up_to(text_.size()); }

}  // namespace sextant::app
