// Computes the mean and spread of an extrapolation over its seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/experiments/extrapolation.h"

namespace sextant {

// One scheme at one length. The average is that of the loss, the mean negative log likelihood per
// token, of which the perplexity is exp. Over seeds the loss varies about equally in both
// directions, and one bad seed does not outweigh all others.
struct SeedScore {
  std::int64_t runs = 0;             // seeds that were trained
  std::int64_t scored = 0;           // seeds that have a number; the others are left out
  std::optional<double> perplexity;  // exp of the mean loss
  // exp of the sample standard deviation of the losses (n - 1): a factor of at least 1, so one
  // deviation reaches from perplexity / factor to perplexity * factor. It needs two numbers.
  std::optional<double> factor;
};
SeedScore over_seeds(const std::vector<LengthScore>& scores);

// The runs of one scheme, and of one stage if it has stages.
struct SchemeScores {
  std::string label;  // with_stage()
  SchemeSpecs schemes;
  std::vector<std::optional<std::uint64_t>> seeds;  // seeds of the runs
  std::vector<SeedScore> segments, sliding;         // one per length
};
// Returns the schemes in the order of their first rows.
std::vector<SchemeScores> over_seeds(const ExtrapolationTable& table);

}  // namespace sextant
