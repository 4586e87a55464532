// The ways to split each piece, and the choice among them.
#include "sextant/training/tasks/subword_dropout.h"

#include <string>
#include <unordered_map>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "training/splitmix64.h"

namespace sextant {
SubwordDropout::SubwordDropout(const Tokenizer& tokenizer, double part) : part_(part) {
  if (!(part >= 0 && part < 1)) {
    throw Error("subword_dropout.part", "must be at least 0 and below 1, got " + shortest(part));
  }
  if (part == 0) return;
  if (tokenizer.kind() != TokenizerKind::subword) {
    throw Error("subword_dropout.part",
                std::string("must be 0 for tokens that are not sub-words, got ") + shortest(part) +
                    " with kind " + std::string(name_of(tokenizer.kind())));
  }
  const std::int64_t size = tokenizer.size(), first = Tokenizer::kUnk + 1;
  std::unordered_map<std::string, std::int64_t> ids;
  for (std::int64_t id = first; id < size; ++id) ids.emplace(tokenizer.piece(id), id);
  for (std::int64_t id = 0; id < size; ++id) {
    begins_.push_back(ways_.size());
    const std::string piece = id < first ? "" : tokenizer.piece(id);
    for (std::size_t at = 1; at < piece.size(); ++at) {
      if (continues_character(piece[at])) continue;
      const auto left = ids.find(piece.substr(0, at)), right = ids.find(piece.substr(at));
      if (left != ids.end() && right != ids.end()) ways_.emplace_back(left->second, right->second);
    }
  }
  begins_.push_back(ways_.size());
}

std::vector<std::int64_t> SubwordDropout::operator()(std::span<const std::int64_t> ids,
                                                     std::uint64_t key) const {
  if (part_ == 0) return {ids.begin(), ids.end()};
  std::vector<std::int64_t> result;
  for (const std::int64_t id : ids) append(id, key, result);
  return result;
}

void SubwordDropout::append(std::int64_t id, std::uint64_t key,
                            std::vector<std::int64_t>& to) const {
  const std::size_t begin = begins_[static_cast<std::size_t>(id)];
  const std::size_t count = begins_[static_cast<std::size_t>(id) + 1] - begin;
  const std::uint64_t mine = splitmix64(key, static_cast<std::uint64_t>(id));
  if (count == 0 || hash_uniform(mine, 0) >= part_) {
    to.push_back(id);
    return;
  }
  const auto& [left, right] = ways_[begin + splitmix64(mine, 1) % count];
  append(left, mine, to);
  append(right, mine, to);
}

}  // namespace sextant
