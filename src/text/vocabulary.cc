// A closed list of words with numbers, and its JSON file.
#include "sextant/text/vocabulary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"
#include "sextant/text/segment.h"
#include "text/token_list.h"

namespace sextant {
namespace {

Error unknown_word(std::string_view word, std::span<const std::string> allowed) {
  constexpr std::size_t kShown = 20;
  std::string message = printable_quote(word) + " is not a word of this vocabulary; allowed:";
  for (const std::string& token : allowed.first(std::min(kShown, allowed.size()))) {
    const std::string shown = printable_quote(token);
    message += ' ' + shown.substr(1, shown.size() - 2);
  }
  if (allowed.size() > kShown) {
    message += " ... and " + std::to_string(allowed.size() - kShown) + " more";
  }
  return {"vocabulary", message};
}

}  // namespace

Vocabulary Vocabulary::from_sentences(std::span<const std::string> sentences,
                                      std::optional<std::string> oov) {
  std::set<std::string> words;  // the order of UTF-8 bytes is the order of code points
  for (const std::string& sentence : sentences) {
    for (std::string& word : split_spaces(lower_case(sentence))) words.insert(std::move(word));
  }
  if (words.empty()) throw Error("vocabulary.sentences", "must hold at least one word");
  if (oov) words.insert(*oov);
  return Vocabulary({words.begin(), words.end()}, std::move(oov));
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, std::optional<std::string> oov)
    : tokens_(std::move(tokens)), oov_(std::move(oov)) {
  if (tokens_.empty()) throw Error("vocabulary.tokens", "must hold at least one token");
  index_.reserve(tokens_.size());
  for (const std::string& token : tokens_) {
    const auto place = static_cast<std::int64_t>(index_.size());
    if (token.empty()) {
      throw Error("vocabulary.tokens",
                  "must not hold an empty token, got one at place " + std::to_string(place));
    }
    check_utf8(token, "vocabulary.tokens");
    if (!index_.emplace(token, place).second) {
      throw Error("vocabulary.tokens", "must hold every token once, got " + printable_quote(token) +
                                           " again at place " + std::to_string(place));
    }
  }
  if (oov_ && !contains(*oov_)) {
    throw Error("vocabulary.oov", "must be one of the tokens, got " + printable_quote(*oov_));
  }
}

bool Vocabulary::contains(std::string_view token) const {
  return index_.contains(std::string(token));
}

std::int64_t Vocabulary::index(std::string_view token) const {
  auto found = index_.find(std::string(token));
  if (found != index_.end()) return found->second;
  check_utf8(token, "vocabulary.token");
  if (!oov_) throw unknown_word(token, tokens_);
  return index_.at(*oov_);
}

std::vector<std::int64_t> Vocabulary::indices(std::span<const std::string> tokens) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(tokens.size());
  for (const std::string& token : tokens) numbers.push_back(index(token));
  return numbers;
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view sentence) const {
  std::vector<std::int64_t> numbers;
  for (const std::string& word : split_spaces(sentence)) {
    const std::string lower = contains(word) ? word : lower_case(word);
    // The error shows the word as the user wrote it.
    numbers.push_back(index(contains(lower) ? lower : word));
  }
  return numbers;
}

const std::string& Vocabulary::token(std::int64_t index) const {
  if (index < 0 || index >= size()) {
    throw Error("vocabulary.index",
                "must be in 0 .. " + std::to_string(size() - 1) + ", got " + std::to_string(index));
  }
  return tokens_[static_cast<std::size_t>(index)];
}

std::vector<std::string> Vocabulary::tokens_of(std::span<const std::int64_t> indices) const {
  std::vector<std::string> words;
  words.reserve(indices.size());
  for (const std::int64_t index : indices) words.push_back(token(index));
  return words;
}

std::string Vocabulary::json() const {
  Json object;
  object["tokens"] = tokens_;
  object["oov"] = nullptr;
  if (oov_) object["oov"] = *oov_;
  return object.dump(1) + "\n";
}

void Vocabulary::save(const std::string& path) const { write_file(path, json()); }

Vocabulary Vocabulary::load(const std::string& path) {
  return parse(read_file(path, text::kTokenFile.bytes), path);
}

Vocabulary Vocabulary::parse(std::string_view bytes, std::string_view where) {
  check_utf8(bytes, where);
  const Json object = Json::parse_object(bytes, where, text::kTokenFile);
  for (const auto& [key, value] : object.items()) {
    if (key != "tokens" && key != "oov") {
      throw Error(where,
                  "must have the keys \"tokens\" and \"oov\" only, got " + printable_quote(key));
    }
  }
  for (const char* key : {"tokens", "oov"}) {
    if (!object.contains(key)) throw Error(where, std::string("must have the key \"") + key + '"');
  }
  std::optional<std::string> oov;
  if (const Json& value = object["oov"]; value.is_string()) {
    oov = value.get<std::string>();
  } else if (!value.is_null()) {
    throw Error(where, std::string("must have text or null as \"oov\", got ") + value.type_name());
  }
  return Vocabulary(text::read_tokens(object["tokens"], where), std::move(oov));
}

}  // namespace sextant
