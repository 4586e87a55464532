// tokenizer.json and tokenizer.model: written together, and read as untrusted input.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"
#include "sextant/text/libraries.h"
#include "sextant/text/segment.h"
#include "sextant/text/tokenizer.h"
#include "text/files/marian_files.h"
#include "text/special_tokens.h"
#include "text/token_list.h"
#include "text/tokenizer_fields.h"
#include "text/tokenizer_parts.h"

namespace sextant {
namespace {

constexpr auto kFormat = "sextant tokenizer 1";

Json read_object(std::string_view bytes, std::string_view where) {
  check_utf8(bytes, where);
  Json object = Json::parse_object(bytes, where, text::kTokenFile);
  const std::initializer_list<const char*> keys = {"format", "kind", "lower_case",
                                                   "split_punctuation", "tokens"};
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end() && key != "word_rules") {
      throw Error(where,
                  "must have no key but format, kind, lower_case, split_punctuation, word_rules "
                  "and tokens, got " +
                      printable_quote(key));
    }
  }
  for (const char* key : keys) {
    if (!object.contains(key)) throw Error(where, std::string("must have the key \"") + key + '"');
  }
  for (const char* key : {"format", "kind"}) {
    if (!object[key].is_string()) {
      throw Error(where,
                  std::string("must have text as \"") + key + "\", got " + object[key].type_name());
    }
  }
  for (const char* key : {"lower_case", "split_punctuation"}) {
    if (!object[key].is_boolean()) {
      throw Error(where, std::string("must have true or false as \"") + key + "\", got " +
                             object[key].type_name());
    }
  }
  if (const auto format = object["format"].get<std::string>(); format != kFormat) {
    throw Error(where, std::string("must have \"") + kFormat + "\" as \"format\", got " +
                           printable_quote(format));
  }
  // Files of 0.1.0 have no such key; they were made by rules that are those of version 1.
  if (object.contains("word_rules")) {
    const std::string said = printable_value(object["word_rules"]);
    if (said != printable_quote(text::kWordRules)) {
      throw Error(where, "must have " + printable_quote(text::kWordRules) +
                             " as \"word_rules\", got " + said +
                             ": this version of sextant splits texts into other words");
    }
  }
  return object;
}

// Tokens that no text can give are a fault of the file.
void check_tokens(const std::vector<std::string>& tokens, TokenizerKind kind,
                  std::string_view where) {
  for (std::size_t i = 0; i < text::kSpecialTokens.size(); ++i) {
    if (i >= tokens.size() || tokens[i] != text::kSpecialTokens[i]) {
      throw Error(where, std::string("must have ") + text::kSpecialTokens[i] + " as token " +
                             std::to_string(i));
    }
  }
  for (std::size_t i = text::kSpecialTokens.size(); i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (kind == TokenizerKind::subword) {
      if (i == text::kSubwordLineBreak && token == "\n") continue;
      throw Error(where,
                  "must have the special tokens and the line break only as \"tokens\" of "
                  "sub-words, got " +
                      printable_quote(token));
    }
    if (kind == TokenizerKind::character) {
      if (text::characters(token).size() == 1) continue;
      throw Error(where, "must have single characters as tokens, got " + printable_quote(token) +
                             " at place " + std::to_string(i));
    }
    const std::vector<std::string> words = split_spaces(token);
    if (token != "\n" && (words.size() != 1 || words[0] != token)) {
      throw Error(where, "must have single words as tokens, got " + printable_quote(token) +
                             " at place " + std::to_string(i));
    }
  }
  if (kind == TokenizerKind::subword && tokens.size() != text::kSubwordLineBreak + 1) {
    throw Error(where, "must have the line break as token 4 of sub-words");
  }
}

SubwordTokenizer read_model(std::string_view bytes, std::string_view where) {
  SubwordTokenizer model = SubwordTokenizer::parse(bytes, where);
  constexpr const char* kFirst[] = {"<unk>", "<s>", "</s>", "[EOS]", "[PAD]"};
  for (std::int64_t i = 0; i < 5; ++i) {
    if (i >= model.size() || model.piece(i) != kFirst[i]) {
      throw Error(where, std::string("must be a model that a tokenizer trained, with ") +
                             kFirst[i] + " as piece " + std::to_string(i));
    }
  }
  return model;
}

}  // namespace

std::string Tokenizer::json() const {
  if (pretrained_) return pretrained_->json();
  Json object;
  object["format"] = kFormat;
  object["kind"] = name_of(kind_);
  object["lower_case"] = lower_case_;
  object["split_punctuation"] = split_punctuation_;
  if (kind_ == TokenizerKind::word && split_punctuation_) object["word_rules"] = text::kWordRules;
  object["tokens"] = vocabulary_.tokens();
  return object.dump(1) + "\n";
}

void Tokenizer::save(const std::string& folder) const {
  if (subword_) subword_->save(folder + "/tokenizer.model");
  write_file(folder + "/tokenizer.json", json());
  if (pretrained_) text::save_special_tokens(folder, special_, *pretrained_);
}

std::string Tokenizer::checksum() const {
  Checksum sum;
  sum.add(json());
  if (subword_) sum.add(subword_->bytes());
  return sum.text();
}

Tokenizer Tokenizer::load(const std::string& folder) {
  const bool of_marian = text::has_marian_files(folder);
  const std::string path = folder + (of_marian ? "/vocab.json with source.spm" : "/tokenizer.json");
  const std::string bytes =
      of_marian ? text::join_marian_files(folder) : read_file(path, text::kTokenFile.bytes);
  if (PretrainedTokenizer::recognizes(bytes)) {
    PretrainedTokenizer pretrained = PretrainedTokenizer::parse(bytes, path);
    const SpecialTokens special = text::find_special_tokens(folder, pretrained);
    return of(std::move(pretrained), special);
  }
  const auto kind = read_object(bytes, path)["kind"].get<std::string>();
  if (kind != name_of(TokenizerKind::subword)) return parse(bytes, {}, path);
  return parse(bytes, read_file(folder + "/tokenizer.model", text::kTokenFile.bytes), path);
}

Tokenizer Tokenizer::of(PretrainedTokenizer pretrained, const SpecialTokens& special) {
  const auto check = [&](std::int64_t id, bool may_lack = true) {
    if ((id == -1 && may_lack) || pretrained.has(id)) return;
    throw Error("tokenizer.special", "must be ids of tokens, got " + std::to_string(id));
  };
  for (const std::int64_t id : {special.pad, special.bos, special.eos, special.unk, special.mask}) {
    check(id);
  }
  for (const std::int64_t id : special.ends) check(id, false);
  Tokenizer made({TokenizerKind::pretrained, false, false},
                 {text::kSpecialTokens.begin(), text::kSpecialTokens.end()}, std::nullopt,
                 std::move(pretrained));
  made.special_ = special;
  return made;
}

Tokenizer Tokenizer::parse(std::string_view bytes, std::string_view model, std::string_view where) {
  if (PretrainedTokenizer::recognizes(bytes)) {
    PretrainedTokenizer pretrained = PretrainedTokenizer::parse(bytes, where);
    const SpecialTokens special = text::find_special_tokens("", pretrained);
    return of(std::move(pretrained), special);
  }
  const Json object = read_object(bytes, where);
  const Settings settings{
      static_cast<TokenizerKind>(find_name(option_names<TokenizerKind>(),
                                           object["kind"].get<std::string>(), "tokenizer.kind")),
      object["lower_case"].get<bool>(), object["split_punctuation"].get<bool>()};
  if (settings.kind == TokenizerKind::word && settings.split_punctuation && !has_text_libraries()) {
    throw Error(where,
                "has words that are split at punctuation, which needs ICU: this build of sextant "
                "is without");
  }
  std::vector<std::string> tokens = text::read_tokens(object["tokens"], where);
  check_tokens(tokens, settings.kind, where);
  std::optional<SubwordTokenizer> subword;
  if (settings.kind == TokenizerKind::subword) {
    subword = read_model(model, std::string(where) + ", tokenizer.model");
  }
  return Tokenizer(settings, std::move(tokens), std::move(subword));
}

}  // namespace sextant
