// The leftmost token, of those the longest, as tokenizers' Aho-Corasick finds them.
#include "text/pretrained/added_tokens.h"

#include <algorithm>

#include "sextant/core/error.h"
#include "text/pretrained/characters.h"

namespace sextant::text {
namespace {

// The work is the product of this and of the length of a text.
constexpr std::size_t kLongestToken = 1024;

}  // namespace

AddedTokens::AddedTokens(const Field& field, const VocabularyTable& vocabulary,
                         const Normalizer& normalizer) {
  std::int64_t next = static_cast<std::int64_t>(vocabulary.count());
  for (const Field& each : field.elements()) {
    each.allow_keys({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token{each.text("content"), each["id"].number(), each.flag("single_word"),
                     each.flag("lstrip"),  each.flag("rstrip"), each.flag("normalized"),
                     each.flag("special")};
    if (token.content.empty() || token.content.size() > kLongestToken) {
      each["content"].refuse("1 .. 1024 bytes");
    }
    const auto known = vocabulary.find(token.content);
    const std::int64_t expected = known ? std::int64_t{*known} : next;
    if (token.id != expected) {
      each["id"].refuse(std::to_string(expected) +
                        (known ? ", the id of this token in the vocabulary," : ", the next id,"));
    }
    next = std::max(next, expected + 1);
    const std::size_t place = tokens_.size();
    if (!by_content_.emplace(token.content, place).second) each["content"].refuse("another token");
    // A hole's id may be the number of tokens of the vocabulary.
    if (!known && vocabulary.token(token.id) != nullptr) each["id"].refuse("an id that is free");
    by_id_.emplace(token.id, place);
    tokens_.push_back(std::move(token));
  }
  // If normalization makes several equal, tokenizers finds the first special one.
  for (const bool special : {true, false}) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].special != special) continue;
      if (!tokens_[i].normalized) {
        tokens_[i].decoded = tokens_[i].content;
        as_given_.add(tokens_[i].content, i);
        continue;
      }
      AlignedText spelled(tokens_[i].content, 0);
      normalizer.apply(spelled);
      if (spelled.empty()) {
        throw Error(field.file(),
                    "must have added tokens that normalization leaves something of, "
                    "got added_tokens[" +
                        std::to_string(i) + "]");
      }
      tokens_[i].decoded = spelled.text();
      as_normalized_.add(spelled.text(), i);
    }
  }
  const auto by_text = [](const auto& pair) -> const std::string& { return pair.first; };
  std::ranges::stable_sort(as_given_.spelled, {}, by_text);
  std::ranges::stable_sort(as_normalized_.spelled, {}, by_text);
}

void AddedTokens::Set::add(std::string text, std::size_t token) {
  first[static_cast<unsigned char>(text.front())] = true;
  spelled.emplace_back(std::move(text), token);
}

std::size_t AddedTokens::Set::longest(std::string_view text, std::size_t& bytes) const {
  std::size_t best = std::string::npos;
  auto low = spelled.begin();
  auto high = spelled.end();
  for (std::size_t length = 1; length <= text.size() && low < high; ++length) {
    const auto byte_of = [&](const auto& pair) {
      return pair.first.size() < length
                 ? -1
                 : static_cast<int>(static_cast<unsigned char>(pair.first[length - 1]));
    };
    const int byte = static_cast<unsigned char>(text[length - 1]);
    low = std::partition_point(low, high, [&](const auto& pair) { return byte_of(pair) < byte; });
    high = std::partition_point(low, high, [&](const auto& pair) { return byte_of(pair) == byte; });
    if (low < high && low->first.size() == length) {
      best = low->second;
      bytes = length;
    }
  }
  return best;
}

std::vector<AddedTokens::Found> AddedTokens::matches(std::string_view text, const Set& set) const {
  std::vector<Found> found;
  if (set.spelled.empty()) return found;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t bytes = 0;
    const std::size_t place = set.first[static_cast<unsigned char>(text[at])]
                                  ? set.longest(text.substr(at), bytes)
                                  : std::string::npos;
    if (place == std::string::npos) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[place];
    std::size_t begin = at;
    std::size_t end = at + bytes;
    at = end;
    if (token.single_word) {
      std::size_t left = begin;
      std::size_t right = end;
      if (begin > 0 && is_word(previous_character(text, left))) continue;
      if (end < text.size() && is_word(next_character(text, right))) continue;
    }
    // Spaces that the token before has taken already are not taken again.
    for (std::size_t left = begin; token.lstrip && left > done;) {
      if (!is_space(previous_character(text, left))) break;
      begin = left;
    }
    for (std::size_t right = end; token.rstrip && right < text.size();) {
      if (!is_space(next_character(text, right))) break;
      end = right;
    }
    found.push_back({begin, end, place});
    done = end;
  }
  return found;
}

Parts AddedTokens::extract(std::string_view text, const Normalizer& normalizer) const {
  Parts parts;
  const auto add = [&](const AlignedText& from, std::size_t begin, std::size_t end,
                       std::int64_t token) {
    if (begin >= end) return;
    const std::size_t place = parts.text.text().size();
    parts.text.append(from, begin, end);
    parts.parts.push_back({place, parts.text.text().size(), token});
  };
  const auto id_of = [this](const Found& found) { return std::int64_t{tokens_[found.token].id}; };
  const auto between = [&](std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    AlignedText part(text.substr(begin, end - begin), static_cast<std::uint32_t>(begin));
    normalizer.apply(part);
    std::size_t done = 0;
    for (const Found& found : matches(part.text(), as_normalized_)) {
      add(part, done, found.begin, -1);
      add(part, found.begin, found.end, id_of(found));
      done = found.end;
    }
    add(part, done, part.text().size(), -1);
  };
  std::size_t done = 0;
  for (const Found& found : matches(text, as_given_)) {
    between(done, found.begin);
    add(AlignedText(text.substr(found.begin, found.end - found.begin),
                    static_cast<std::uint32_t>(found.begin)),
        0, found.end - found.begin, id_of(found));
    done = found.end;
  }
  between(done, text.size());
  return parts;
}

const AddedToken* AddedTokens::find(std::uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

}  // namespace sextant::text
