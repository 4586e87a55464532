// Draws the perplexities of an extrapolation by length, as lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/experiments/extrapolation.h"
#include "sextant/experiments/seeds.h"
#include "sextant/pictures/canvas.h"

namespace sextant::figures {

// One way to score, and the member with its numbers.
struct Scoring {
  std::string title;
  std::vector<SeedScore> SchemeScores::*scores;
};
// Returns segments and sliding windows; `token` is the name of a token, "character".
std::vector<Scoring> scorings(const ExtrapolationTable& table, const std::string& token);

// Draws a panel per way to score, one line per scheme; lengths and, if they differ much,
// perplexities have logarithmic axes. With several seeds lines connect the means, in bands of one
// deviation.
Picture extrapolation_chart(const ExtrapolationTable& table, const std::string& token,
                            std::optional<double> max_width = {});

}  // namespace sextant::figures
