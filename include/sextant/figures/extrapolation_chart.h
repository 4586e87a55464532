// Perplexities by length: what an extrapolation measured, as lines.
#pragma once

#include <string>
#include <vector>

#include "sextant/experiments/extrapolation.h"
#include "sextant/experiments/seeds.h"
#include "sextant/pictures/canvas.h"

namespace sextant::figures {

// One way to score, and where a scheme has its numbers.
struct Scoring {
  std::string title;
  std::vector<SeedScore> SchemeScores::*scores;
};
// Segments and sliding windows; `token`: what one is called, "character".
std::vector<Scoring> scorings(const ExtrapolationTable& table, const std::string& token);

// A panel per way to score, one line per scheme; lengths and, where they differ much, perplexities
// on logarithmic axes. With several seeds lines go through the means, in bands of one deviation.
Picture extrapolation_chart(const ExtrapolationTable& table, const std::string& token);

}  // namespace sextant::figures
