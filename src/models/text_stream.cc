// The text of a model as its tokens are made.
#include "sextant/models/text_stream.h"

#include <algorithm>
#include <utility>

namespace sextant {

TextStream::TextStream(const Tokenizer& tokenizer, std::string_view prompt,
                       std::span<const std::int64_t> ids, std::string stop,
                       std::function<void(std::string_view)> show)
    : decoder_(tokenizer),
      space_shown_(
          (tokenizer.kind() == TokenizerKind::word || tokenizer.kind() == TokenizerKind::subword) &&
          prompt.ends_with(' ')),
      stop_(std::move(stop)),
      show_(std::move(show)) {
  for (const std::int64_t id : ids) decoder_.add(id);
  decoder_.finish();
}

void TextStream::show_up_to(std::size_t end) {
  if (end <= shown_) return;
  show_(std::string_view(text_).substr(shown_, end - shown_));
  shown_ = end;
}

bool TextStream::add(std::int64_t token) { return add_text(decoder_.add(token)); }

bool TextStream::add_text(std::string part) {
  const std::size_t before = text_.size();
  if (space_shown_ && part.starts_with(' ')) part.erase(0, 1);
  space_shown_ = space_shown_ && part.empty();
  text_ += part;
  if (stop_.empty()) {
    show_up_to(text_.size());
    return true;
  }
  // It may have begun in the text before.
  const std::size_t from = before - std::min(before, stop_.size() - 1);
  if (const std::size_t found = text_.find(stop_, from); found != std::string::npos) {
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

void TextStream::finish() {
  if (!stopped_) add_text(decoder_.finish());
  show_up_to(text_.size());
}

}  // namespace sextant
