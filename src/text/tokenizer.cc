// Encoding and decoding with any of the kinds.
#include "sextant/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/options/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"
#include "sextant/text/text_decoder.h"
#include "text/tokenizer_parts.h"

namespace sextant {

std::string_view name_of(TokenizerKind kind) noexcept {
  return enum_name(kind, {"word", "character", "subword", "pretrained"});
}

Tokenizer::Tokenizer(const Settings& settings, std::vector<std::string> tokens,
                     std::optional<SubwordTokenizer> subword,
                     std::optional<PretrainedTokenizer> pretrained)
    : kind_(settings.kind),
      lower_case_(settings.lower_case),
      split_punctuation_(settings.split_punctuation),
      vocabulary_(std::move(tokens), text::kSpecialTokens[kUnk]),
      subword_(std::move(subword)),
      pretrained_(std::move(pretrained)),
      special_{.pad = kPad, .bos = kBos, .eos = kEos, .unk = kUnk, .mask = size(), .ends = {kEos}} {
}

bool Tokenizer::operator==(const Tokenizer& other) const {
  if (kind_ != other.kind_ || lower_case_ != other.lower_case_ ||
      split_punctuation_ != other.split_punctuation_ || size() != other.size()) {
    return false;
  }
  if (pretrained_) return pretrained_->json() == other.pretrained_->json();
  for (std::int64_t id = 0; id < size(); ++id) {
    if (piece(id) != other.piece(id)) return false;
  }
  return true;
}

std::int64_t Tokenizer::size() const noexcept {
  return pretrained_ ? pretrained_->size() : subword_ ? subword_->size() : vocabulary_.size();
}

bool Tokenizer::has(std::int64_t id) const noexcept {
  return pretrained_ ? pretrained_->has(id) : id >= 0 && id < size();
}

std::vector<std::int64_t> Tokenizer::unwritten(std::int64_t count) const {
  std::vector<std::int64_t> ids;
  for (const std::int64_t id : {special_.pad, special_.bos, special_.unk}) {
    if (id >= 0 && std::ranges::count(special_.ends, id) == 0) ids.push_back(id);
  }
  for (std::int64_t id = 0; id < count; ++id) {
    if (!has(id)) ids.push_back(id);
  }
  return ids;
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
  if (pretrained_) return pretrained_->encode(text, {.add_special_tokens = false}).ids;
  const std::string ready = prepared(text);
  std::vector<std::int64_t> ids;
  if (!subword_) {
    ids = vocabulary_.indices(split(ready));
    for (std::int64_t& id : ids) {
      if (id < kUnk) id = kUnk;
    }
    return ids;
  }
  text::for_each_line(ready, [&](std::string_view line, bool is_first) {
    if (!is_first) ids.push_back(text::kSubwordLineBreak);
    for (const std::int64_t id : subword_->encode(line)) {
      ids.push_back(id > text::kSubwordLineBreak ? id : kUnk);
    }
  });
  return ids;
}

std::vector<std::string> Tokenizer::tokens(std::string_view text) const {
  if (pretrained_) return readable(pretrained_->encode(text, {.add_special_tokens = false}).ids);
  const std::string ready = prepared(text);
  if (!subword_) return split(ready);
  std::vector<std::string> tokens;
  text::for_each_line(ready, [&](std::string_view line, bool is_first) {
    if (!is_first) tokens.emplace_back("\n");
    for (std::string& piece : subword_->pieces(line)) tokens.push_back(std::move(piece));
  });
  return tokens;
}

TokenizedText Tokenizer::model_input(std::string_view text) const {
  if (!pretrained_) return {encode(text), tokens(text)};
  TokenizedText made{pretrained_->encode(text).ids, {}};
  made.tokens = readable(made.ids);
  return made;
}

TokenizedText Tokenizer::model_input(std::string_view first, std::string_view second) const {
  if (!pretrained_) {
    throw Error("tokenizer.second",
                "must not be given: only tokenizers of published models say "
                "how two texts are read as one");
  }
  PretrainedEncoding made = pretrained_->encode_pair(first, second);
  std::vector<std::string> tokens = readable(made.ids);
  return {std::move(made.ids), std::move(tokens), std::move(made.type_ids)};
}

std::vector<std::string> Tokenizer::readable(std::span<const std::int64_t> ids) const {
  std::vector<std::string> tokens;
  for (const std::int64_t id : ids) tokens.push_back(piece(id));
  return tokens;
}

std::string Tokenizer::piece(std::int64_t id) const {
  if (pretrained_) return pretrained_->readable_piece(id);
  if (id < 0 || id >= size()) {
    throw Error("tokenizer.id",
                "must be in 0 .. " + std::to_string(size() - 1) + ", got " + std::to_string(id));
  }
  return id < vocabulary_.size() ? vocabulary_.token(id) : subword_->piece(id);
}

std::string Tokenizer::piece_or_number(std::int64_t id) const {
  if (has(id)) return piece(id);
  return id == special_.mask ? "[MASK]" : "<" + std::to_string(id) + ">";
}

std::optional<std::string> Tokenizer::whole_word(std::int64_t id) const {
  constexpr std::string_view kMark = "\u2581";
  if (!pretrained_ && id <= kUnk && has(id)) return std::nullopt;
  std::optional<std::string> word = pretrained_ ? pretrained_->whole_word(id) : piece(id);
  if (kind_ == TokenizerKind::subword) {
    if (!word->starts_with(kMark)) return std::nullopt;
    word->erase(0, kMark.size());
  }
  if (word && word->find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
  return word;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids) const {
  if (pretrained_) return pretrained_->decode(ids);
  TextDecoder decoder(*this);
  std::string text;
  for (const std::int64_t id : ids) text += decoder.add(id);
  return text;
}

std::string Tokenizer::join(std::span<const std::string> tokens) const {
  if (pretrained_) throw Error("tokenizer.join", "must be called of tokens that are learned here");
  TextDecoder decoder(*this);
  std::string text;
  for (const std::string& token : tokens) decoder.append(token, text);
  return text;
}

}  // namespace sextant
