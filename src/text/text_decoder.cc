// The text of token ids as they come.
#include "sextant/text/text_decoder.h"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::string_view kSpace = "\u2581";  // SentencePiece's sign

}  // namespace

std::string TextDecoder::add(std::int64_t id) {
  if (tokenizer_.kind() == TokenizerKind::pretrained) {
    ids_.push_back(id);
    return next_text(false);
  }
  const std::string token = tokenizer_.piece(id);
  std::string text;
  if (id > Tokenizer::kUnk) {
    append(token, text);
  } else if (id == Tokenizer::kUnk) {
    append(tokenizer_.kind() == TokenizerKind::word        ? std::string_view(token)
           : tokenizer_.kind() == TokenizerKind::character ? "\uFFFD"
                                                           : " \u2047 ",
           text);
  }
  return text;
}

std::string TextDecoder::finish() { return shown_ < ids_.size() ? next_text(true) : ""; }

std::string TextDecoder::next_text(bool all) {
  const std::span ids(ids_);
  const std::string before = tokenizer_.decode(ids.first(shown_));
  std::string text = tokenizer_.decode(ids);
  constexpr std::size_t kLongest = 8;  // more tokens than a character has bytes
  const bool is_part = text.ends_with("\uFFFD") && ids_.size() - shown_ < kLongest;
  if (text.size() < before.size() || (is_part && !all)) return "";
  text.erase(0, before.size());
  // The first token of a text may lose the space before it: that is never the next one.
  if (!tokenizer_.decode(ids.subspan(shown_)).empty()) {
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(shown_));
  }
  shown_ = ids_.size();
  return text;
}

void TextDecoder::append(std::string_view token, std::string& text) {
  switch (tokenizer_.kind()) {
    case TokenizerKind::character:
      text += token;
      return;
    case TokenizerKind::word:
      if (begun_ && !after_break_ && token != "\n") text += ' ';
      text += token;
      if (token.empty()) return;
      after_break_ = token.back() == '\n';
      begun_ = true;
      return;
    case TokenizerKind::subword:
    case TokenizerKind::pretrained:
      break;
  }
  if (token == "\n") {
    text += '\n';
    line_begun_ = false;
    return;
  }
  for (std::size_t at = 0; at < token.size();) {
    const std::size_t space = std::min(token.find(kSpace, at), token.size());
    std::string_view part = token.substr(at, space - at);
    // The space before a line's first word is none of the text.
    if (!line_begun_ && part.starts_with(' ')) part.remove_prefix(1);
    line_begun_ = line_begun_ || space > at;
    text += part;
    if (space < token.size()) {
      if (line_begun_) text += ' ';
      line_begun_ = true;
    }
    at = space + kSpace.size();
  }
}

}  // namespace sextant
