// The "added_tokens" of a tokenizer.json: tokens that are found in the text before anything else.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/pretrained/fields.h"
#include "text/pretrained/models/vocabulary_table.h"
#include "text/pretrained/normalizer.h"
#include "text/pretrained/pre_tokenizer.h"

namespace sextant::text {

struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;
  bool special = false;
  // Tokenizers 0.23 decodes tokens that were found in normalized text to this.
  std::string decoded = {};
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Throws Error for an id that is not the one that tokenizers gives: the model's for a token of
  // the model, else the next that is free.
  AddedTokens(const Field& field, const VocabularyTable& vocabulary, const Normalizer& normalizer);

  // The text, normalized around the tokens that were found in it.
  Parts extract(std::string_view text, const Normalizer& normalizer) const;

  const AddedToken* find(std::uint32_t id) const;
  const AddedToken* find(std::string_view content) const;
  const std::vector<AddedToken>& all() const noexcept { return tokens_; }

 private:
  // Tokens to look for, sorted: the longest that the text begins with.
  struct Set {
    std::vector<std::pair<std::string, std::size_t>> spelled;  // and the place in tokens_
    std::array<bool, 256> first{};
    void add(std::string text, std::size_t token);
    std::size_t longest(std::string_view text, std::size_t& bytes) const;
  };
  struct Found {
    std::size_t begin, end, token;
  };
  std::vector<Found> matches(std::string_view text, const Set& set) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::uint32_t, std::size_t> by_id_;
  std::unordered_map<std::string, std::size_t> by_content_;
  Set as_given_;
  Set as_normalized_;
};

}  // namespace sextant::text
