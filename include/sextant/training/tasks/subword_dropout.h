// Sub-words that are split anew each time they are learned from.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sextant/text/tokenizer.h"

namespace sextant {

// A piece becomes, with probability `part`, two other pieces that spell the same, and so may each
// of these: words are seen in many spellings, and their pieces in many places (Kudo 2018,
// 1804.10959; Provilkov et al. 2020, 1910.13267, who leave out merges where pieces are split here).
class SubwordDropout {
 public:
  // 0 <= part < 1. Throws Error for others, and for a part of tokens that are no sub-words.
  SubwordDropout(const Tokenizer& tokenizer, double part);

  // The same for the same (ids, key). Within one key equal ids are split alike: what stands on both
  // sides of a pair still does.
  std::vector<std::int64_t> operator()(std::span<const std::int64_t> ids, std::uint64_t key) const;

 private:
  void append(std::int64_t id, std::uint64_t key, std::vector<std::int64_t>& to) const;

  double part_;
  std::vector<std::size_t> begins_;  // of each id's ways in ways_, and the end of the last
  std::vector<std::pair<std::int64_t, std::int64_t>> ways_;
};

}  // namespace sextant
