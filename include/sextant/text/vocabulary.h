// Numbers words: sorted, with an optional token for unknown words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/core/lifetime.h"

namespace sextant {

class Vocabulary {
 public:
  // Makes a vocabulary from sentences: lower-cased, split at white space, sorted by code point,
  // each word once. The OOV token is sorted too and keeps its spelling (as in the course: "OOV"
  // comes before every lower-case word). Without `oov`, unknown words are refused. Throws Error if
  // there is no word.
  static Vocabulary from_sentences(std::span<const std::string> sentences,
                                   std::optional<std::string> oov = "OOV");
  // Makes a vocabulary from tokens in their given order (index = place), e.g. "<pad> the zebra
  // chased lion .". Throws Error for no token, an empty or a duplicate one, or an OOV token that is
  // not among them.
  explicit Vocabulary(std::vector<std::string> tokens,
                      std::optional<std::string> oov = std::nullopt);

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(tokens_.size()); }
  std::span<const std::string> tokens() const noexcept SEXTANT_LIFETIME_BOUND { return tokens_; }
  const std::optional<std::string>& oov() const noexcept { return oov_; }
  bool contains(std::string_view token) const;

  // Returns the number of exactly this token. Unknown tokens map to OOV; without one, it throws an
  // Error with the word and the allowed words.
  std::int64_t index(std::string_view token) const;
  std::vector<std::int64_t> indices(std::span<const std::string> tokens) const;
  // Encodes a sentence, split at white space: each word as written, else lower-cased, else as
  // index() treats unknown tokens. So "The" finds "the" unless the vocabulary has both. A sentence
  // without words gives no numbers.
  std::vector<std::int64_t> encode(std::string_view sentence) const;
  // Returns a token. Throws Error if the index is outside 0 .. size() - 1.
  const std::string& token(std::int64_t index) const;
  std::vector<std::string> tokens_of(std::span<const std::int64_t> indices) const;

  // Save and load a JSON file: {"tokens": [...], "oov": "OOV" or null}. Every mistake in a file has
  // its own Error (no JSON, not UTF-8, a missing, unknown or repeated key, a wrong type, a
  // duplicate token); files above 256 MiB are refused.
  void save(const std::string& path) const;
  std::string json() const;  // returns the text that save() writes
  static Vocabulary load(const std::string& path);
  static Vocabulary parse(std::string_view json, std::string_view where = "vocabulary");

 private:
  std::vector<std::string> tokens_;
  std::optional<std::string> oov_;
  std::unordered_map<std::string, std::int64_t> index_;
};

}  // namespace sextant
