// The task that ships: dates in words to ISO 8601, learned and checked on dates never seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/text/pairs.h"

namespace sextant::app {

SentencePairs training_dates(std::uint64_t seed);
SentencePairs validation_dates(std::uint64_t seed);  // held out, for the loss

struct ExactMatch {
  std::int64_t right = 0, count = 0;
  struct Miss {
    std::string source, wanted, got;
  };
  std::vector<Miss> misses;  // the first few
  double share() const { return static_cast<double>(right) / static_cast<double>(count); }
};
// Greedy translations by the model in `folder` of 1000 held-out dates, others than those of the
// loss.
ExactMatch check_dates(const std::string& folder, std::uint64_t seed, int threads);

}  // namespace sextant::app
