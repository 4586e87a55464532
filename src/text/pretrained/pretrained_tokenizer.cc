// From a text to ids: added tokens, normalizer, pre-tokenizer, model, post-processor.
#include "sextant/text/pretrained_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/json/json.h"
#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"
#include "sextant/text/segment.h"
#include "text/pretrained/added_tokens.h"
#include "text/pretrained/byte_level.h"
#include "text/pretrained/decoder.h"
#include "text/pretrained/models/piece_model.h"
#include "text/pretrained/normalizer.h"
#include "text/pretrained/post_processor.h"
#include "text/pretrained/pre_tokenizer.h"
#include "text/token_list.h"

namespace sextant {

using text::Field;
using text::Token;

struct PretrainedTokenizer::Impl {
  text::Normalizer normalizer;
  text::PreTokenizer pre_tokenizer;
  std::unique_ptr<text::PieceModel> model;
  text::AddedTokens added;
  text::PostProcessor post_processor;
  text::Decoder decoder;
  std::optional<std::int64_t> max_length;
  bool cuts_left = false;
  std::int64_t size = 0;
  std::string json;
  std::string_view word_mark;  // prefix of tokens that begin a word, or that continue one
  bool mark_begins = true;

  Impl(const Field& file, std::string_view text);
  void read_truncation(const Field& field);
  void find_word_mark();

  const std::string* token(std::int64_t id) const;
  std::int64_t id_of(std::string_view token) const;  // -1: none
  std::vector<Token> pieces(const text::Parts& parts) const;
  void truncate(std::vector<Token>& tokens, bool add_special_tokens) const;
  text::Parts parts_of(std::string_view text, const char* where) const;
  PretrainedEncoding encoding_of(const std::vector<Token>& tokens) const;
};

namespace {

// Padding is for batches, which encode() makes none of.
void check_padding(const Field& field) {
  field.allow_keys(
      {"strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"});
  const Field strategy = field["strategy"];
  if (strategy.json().is_object()) {
    strategy.allow_keys({"Fixed"});
    strategy["Fixed"].number();
  } else {
    strategy.choice({"BatchLongest"});
  }
  field["direction"].choice({"Left", "Right"});
  if (field.has("pad_to_multiple_of")) field["pad_to_multiple_of"].number();
  for (const std::string_view key : {"pad_id", "pad_type_id"}) field[key].number();
  field.text("pad_token");
}

}  // namespace

PretrainedTokenizer::Impl::Impl(const Field& file, std::string_view text) : json(text) {
  file.allow_keys({"version", "truncation", "padding", "added_tokens", "normalizer",
                   "pre_tokenizer", "post_processor", "decoder", "model"});
  file["version"].choice({"1.0"});
  model = text::PieceModel::read(file["model"]);
  if (file.has("normalizer")) normalizer = text::Normalizer::read(file["normalizer"]);
  if (file.has("pre_tokenizer")) pre_tokenizer = text::PreTokenizer::read(file["pre_tokenizer"]);
  if (file.has("added_tokens")) {
    added = text::AddedTokens(file["added_tokens"], model->vocabulary(), normalizer);
  }
  if (file.has("post_processor")) {
    post_processor = text::PostProcessor::read(
        file["post_processor"], [this](std::string_view token) { return id_of(token); });
  }
  if (file.has("decoder")) decoder = text::Decoder::read(file["decoder"]);
  if (file.has("truncation")) read_truncation(file["truncation"]);
  if (file.has("padding")) check_padding(file["padding"]);
  size = model->vocabulary().size();
  for (const text::AddedToken& each : added.all()) size = std::max(size, std::int64_t{each.id} + 1);
  find_word_mark();
}

// Files do not say it.
void PretrainedTokenizer::Impl::find_word_mark() {
  if (decoder.is_byte_level()) {
    word_mark = " ";
    return;
  }
  for (const std::string_view mark : {"\u2581", "##"}) {
    if (!model->vocabulary().has_beginning(mark)) continue;
    word_mark = mark;
    mark_begins = mark != "##";
    return;
  }
}

void PretrainedTokenizer::Impl::read_truncation(const Field& field) {
  field.allow_keys({"direction", "max_length", "strategy", "stride"});
  cuts_left = field.has("direction") && field["direction"].choice({"Right", "Left"}) == 1;
  field["strategy"].choice({"LongestFirst", "OnlyFirst"});
  field["stride"].number();  // for text that is cut off, which encode() does not return
  max_length = field["max_length"].number();
}

const std::string* PretrainedTokenizer::Impl::token(std::int64_t id) const {
  if (id < 0 || id >= size) return nullptr;
  const auto number = static_cast<std::uint32_t>(id);
  const text::AddedToken* found = added.find(number);
  return found != nullptr ? &found->content : model->vocabulary().token(number);
}

std::int64_t PretrainedTokenizer::Impl::id_of(std::string_view token) const {
  if (const text::AddedToken* found = added.find(token)) return found->id;
  const auto id = model->vocabulary().find(token);
  return id ? std::int64_t{*id} : -1;
}

std::vector<Token> PretrainedTokenizer::Impl::pieces(const text::Parts& parts) const {
  const std::string_view all = parts.text.text();
  const std::vector<text::Origin>& origin = parts.text.origin();
  std::vector<Token> tokens;
  std::vector<text::Piece> found;
  for (const text::Part& part : parts.parts) {
    if (part.begin == part.end) continue;
    if (part.added >= 0) {
      tokens.push_back({static_cast<std::uint32_t>(part.added), 0, origin[part.begin].begin,
                        origin[part.end - 1].end, all.substr(part.begin, part.end - part.begin)});
      continue;
    }
    found.clear();
    model->encode(all.substr(part.begin, part.end - part.begin), found);
    for (const text::Piece& piece : found) {
      tokens.push_back({piece.id, 0, origin[part.begin + piece.begin].begin,
                        origin[part.begin + piece.end - 1].end,
                        *model->vocabulary().token(piece.id)});
    }
  }
  return tokens;
}

void PretrainedTokenizer::Impl::truncate(std::vector<Token>& tokens,
                                         bool add_special_tokens) const {
  if (!max_length) return;
  const auto special =
      add_special_tokens ? static_cast<std::int64_t>(post_processor.added()) : std::int64_t{0};
  if (special > *max_length) {
    throw Error("tokenizer.truncate", "must be false with a max_length of " +
                                          std::to_string(*max_length) + ", which the " +
                                          std::to_string(special) + " special tokens are above");
  }
  const auto room = static_cast<std::size_t>(*max_length - special);
  if (tokens.size() <= room) return;
  if (cuts_left) {
    tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(room));
  } else {
    tokens.resize(room);
  }
}

PretrainedTokenizer PretrainedTokenizer::load(const std::string& path) {
  const std::string file = std::filesystem::is_directory(path) ? path + "/tokenizer.json" : path;
  return parse(read_file(file, text::kTokenFile.bytes), file);
}

PretrainedTokenizer PretrainedTokenizer::parse(std::string_view json, std::string_view where) {
  check_utf8(json, where);
  const Json file = Json::parse_object(json, where, text::kTokenFile);
  return PretrainedTokenizer(std::make_shared<const Impl>(Field(file, where, ""), json));
}

const std::string& PretrainedTokenizer::json() const noexcept { return impl_->json; }

std::int64_t PretrainedTokenizer::size() const noexcept { return impl_->size; }

bool PretrainedTokenizer::has(std::int64_t id) const noexcept {
  return impl_->token(id) != nullptr;
}

std::optional<std::int64_t> PretrainedTokenizer::max_length() const noexcept {
  return impl_->max_length;
}

text::Parts PretrainedTokenizer::Impl::parts_of(std::string_view text, const char* where) const {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(where, "must be at most 2147483647 bytes long, got " + std::to_string(text.size()));
  }
  check_utf8(text, where);
  text::Parts parts = added.extract(text, normalizer);
  pre_tokenizer.apply(parts);
  return parts;
}

PretrainedEncoding PretrainedTokenizer::Impl::encoding_of(const std::vector<Token>& tokens) const {
  PretrainedEncoding encoding;
  for (const Token& each : tokens) {
    encoding.ids.push_back(each.id);
    encoding.tokens.push_back(*token(each.id));
    encoding.offsets.push_back({each.begin, each.end});
    encoding.type_ids.push_back(each.type);
  }
  return encoding;
}

PretrainedEncoding PretrainedTokenizer::encode(std::string_view text,
                                               const PretrainedEncodeOptions& options) const {
  const text::Parts parts = impl_->parts_of(text, "tokenizer.text");
  std::vector<Token> tokens = impl_->pieces(parts);
  if (options.truncate) impl_->truncate(tokens, options.add_special_tokens);
  impl_->post_processor.apply(tokens, text, options.add_special_tokens);
  return impl_->encoding_of(tokens);
}

PretrainedEncoding PretrainedTokenizer::encode_pair(std::string_view first, std::string_view second,
                                                    const PretrainedEncodeOptions& options) const {
  if (options.truncate) throw Error("tokenizer.truncate", "must be false for two texts");
  const text::Parts a = impl_->parts_of(first, "tokenizer.text"),
                    b = impl_->parts_of(second, "tokenizer.second");
  return impl_->encoding_of(impl_->post_processor.join(impl_->pieces(a), first, impl_->pieces(b),
                                                       second, options.add_special_tokens));
}

std::string PretrainedTokenizer::decode(std::span<const std::int64_t> ids,
                                        bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const std::int64_t id : ids) {
    std::string token = piece(id);
    const text::AddedToken* added = impl_->added.find(static_cast<std::uint32_t>(id));
    if (added != nullptr && added->special && skip_special_tokens) continue;
    if (added != nullptr) token = added->decoded;
    tokens.push_back(std::move(token));
  }
  return impl_->decoder.decode(std::move(tokens));
}

std::string PretrainedTokenizer::piece(std::int64_t id) const {
  const std::string* token = impl_->token(id);
  if (token != nullptr) return *token;
  throw Error("tokenizer.id", "must be the id of a token, all of which are 0 .. " +
                                  std::to_string(impl_->size - 1) + ", got " + std::to_string(id));
}

std::string PretrainedTokenizer::readable_piece(std::int64_t id) const {
  std::string token = piece(id);
  if (!impl_->decoder.is_byte_level()) return token;
  if (impl_->added.find(static_cast<std::uint32_t>(id)) != nullptr) return token;
  std::optional<std::string> bytes = text::bytes_of(token);
  return bytes && find_invalid_utf8(*bytes) == std::string_view::npos ? *bytes : token;
}

std::optional<std::string> PretrainedTokenizer::whole_word(std::int64_t id) const {
  if (!has(id) || impl_->added.find(static_cast<std::uint32_t>(id)) != nullptr) return {};
  std::string word = readable_piece(id);
  if (impl_->word_mark.empty()) return word;
  const bool has_mark = word.starts_with(impl_->word_mark);
  if (has_mark != impl_->mark_begins) return {};
  if (has_mark) word.erase(0, impl_->word_mark.size());
  if (has_mark && word.starts_with(impl_->word_mark)) return {};  // spaces alone
  return word;
}

std::optional<std::int64_t> PretrainedTokenizer::id_of(std::string_view token) const {
  const std::int64_t id = impl_->id_of(token);
  if (id < 0) return std::nullopt;
  return id;
}

bool PretrainedTokenizer::is_special(std::int64_t id) const {
  piece(id);
  const text::AddedToken* found = impl_->added.find(static_cast<std::uint32_t>(id));
  return found != nullptr && found->special;
}

}  // namespace sextant
