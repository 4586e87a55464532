// Encoding and decoding with any of the three kinds.
#include "sextant/text/tokenizer.h"

#include <utility>

#include "core/options/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"
#include "sextant/text/text_decoder.h"
#include "text/tokenizer_parts.h"

namespace sextant {

std::string_view name_of(TokenizerKind kind) noexcept {
  return enum_name(kind, {"word", "character", "subword"});
}

Tokenizer::Tokenizer(const Settings& settings, std::vector<std::string> tokens,
                     std::optional<SubwordTokenizer> subword)
    : kind_(settings.kind),
      lower_case_(settings.lower_case),
      split_punctuation_(settings.split_punctuation),
      vocabulary_(std::move(tokens), text::kSpecialTokens[unk()]),
      subword_(std::move(subword)) {}

bool Tokenizer::operator==(const Tokenizer& other) const {
  if (kind_ != other.kind_ || lower_case_ != other.lower_case_ ||
      split_punctuation_ != other.split_punctuation_ || size() != other.size()) {
    return false;
  }
  for (std::int64_t id = 0; id < size(); ++id) {
    if (piece(id) != other.piece(id)) return false;
  }
  return true;
}

std::int64_t Tokenizer::size() const noexcept {
  return subword_ ? subword_->size() : vocabulary_.size();
}

std::string Tokenizer::prepared(std::string_view text) const {
  check_utf8(text, "tokenizer.text");
  return lower_case_ ? lower_case(text) : std::string(text);
}

std::vector<std::string> Tokenizer::split(std::string_view text) const {
  return kind_ == TokenizerKind::character
             ? text::characters(text)
             : text::words(text, split_punctuation_, vocabulary_.contains("\n"));
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text) const {
  const std::string ready = prepared(text);
  std::vector<std::int64_t> ids;
  if (!subword_) {
    ids = vocabulary_.indices(split(ready));
    for (std::int64_t& id : ids) {
      if (id < unk()) id = unk();
    }
    return ids;
  }
  text::for_each_line(ready, [&](std::string_view line, bool is_first) {
    if (!is_first) ids.push_back(text::kSubwordLineBreak);
    for (const std::int64_t id : subword_->encode(line)) {
      ids.push_back(id > text::kSubwordLineBreak ? id : unk());
    }
  });
  return ids;
}

std::vector<std::string> Tokenizer::tokens(std::string_view text) const {
  const std::string ready = prepared(text);
  if (!subword_) return split(ready);
  std::vector<std::string> tokens;
  text::for_each_line(ready, [&](std::string_view line, bool is_first) {
    if (!is_first) tokens.emplace_back("\n");
    for (std::string& piece : subword_->pieces(line)) tokens.push_back(std::move(piece));
  });
  return tokens;
}

std::string Tokenizer::piece(std::int64_t id) const {
  if (id < 0 || id >= size()) {
    throw Error("tokenizer.id",
                "must be in 0 .. " + std::to_string(size() - 1) + ", got " + std::to_string(id));
  }
  return id < vocabulary_.size() ? vocabulary_.token(id) : subword_->piece(id);
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids) const {
  TextDecoder decoder(*this);
  std::string text;
  for (const std::int64_t id : ids) text += decoder.add(id);
  return text;
}

std::string Tokenizer::join(std::span<const std::string> tokens) const {
  TextDecoder decoder(*this);
  std::string text;
  for (const std::string& token : tokens) decoder.append(token, text);
  return text;
}

}  // namespace sextant
