// Splits sub-words differently each time they are learned from.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sextant/text/tokenizer.h"

namespace sextant {

// Replaces a piece, with probability `part`, by two other pieces with the same spelling, and so
// each of these: a model sees words in many spellings, and their pieces in many places (Kudo 2018,
// 1804.10959; Provilkov et al. 2020, 1910.13267, who skip merges instead of splitting pieces).
class SubwordDropout {
 public:
  // 0 <= part < 1. Throws Error for others, and if tokens are not sub-words.
  SubwordDropout(const Tokenizer& tokenizer, double part);

  // Returns the same for the same (ids, key). Within one key equal ids are split in the same way,
  // so words on both sides of a pair stay equal.
  std::vector<std::int64_t> operator()(std::span<const std::int64_t> ids, std::uint64_t key) const;

 private:
  void append(std::int64_t id, std::uint64_t key, std::vector<std::int64_t>& to) const;

  double part_;
  std::vector<std::size_t> begins_;  // begin of each id's ways in ways_, and the end of the last
  std::vector<std::pair<std::int64_t, std::int64_t>> ways_;
};

}  // namespace sextant
