// Converts a tokenizer learned here to the form of the library "tokenizers": a list of words, and a
// regular expression that splits a text into them.
#include <string>

#include "core/json/json.h"
#include "sextant/text/tokenizer.h"

namespace sextant {
namespace {

Json special_token(std::int64_t id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

}  // namespace

std::optional<Tokenizer> Tokenizer::as_pretrained() const {
  if (kind_ == TokenizerKind::pretrained) return *this;
  if (kind_ == TokenizerKind::subword || (kind_ == TokenizerKind::word && split_punctuation_))
    return std::nullopt;
  const bool by_character = kind_ == TokenizerKind::character;
  const char* const pattern = by_character                 ? "[\\s\\S]"
                              : vocabulary_.contains("\n") ? "\\n|\\S+"
                                                           : "\\S+";
  Json added = Json::array(), words = Json::object();
  for (std::int64_t id = 0; id < size(); ++id) {
    words.append(piece(id), id);
    if (id <= kUnk) added.push_back(special_token(id, piece(id)));
  }
  Json json = Json::object();
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = added;
  json["normalizer"] = lower_case_ ? Json({{"type", "Lowercase"}}) : Json(nullptr);
  json["pre_tokenizer"] = {{"type", "Split"},
                           {"pattern", {{"Regex", pattern}}},
                           {"behavior", "Removed"},
                           {"invert", true}};
  json["post_processor"] = nullptr;
  json["decoder"] = by_character ? Json({{"type", "Fuse"}}) : Json(nullptr);
  json["model"] = {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", piece(kUnk)}};
  SpecialTokens special = special_;
  special.mask = -1;
  return of(PretrainedTokenizer::parse(json.dump(1) + "\n"), special);
}

}  // namespace sextant
