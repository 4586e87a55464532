// Losses over seeds: in two passes, which lose no digits where they hardly differ.
#include "sextant/experiments/seeds.h"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

std::vector<SeedScore> over_lengths(const std::vector<const ExtrapolationRow*>& runs,
                                    std::vector<LengthScore> ExtrapolationRow::*scores,
                                    std::size_t lengths) {
  std::vector<SeedScore> result;
  for (std::size_t i = 0; i < lengths; ++i) {
    std::vector<LengthScore> of_runs;
    for (const ExtrapolationRow* run : runs) of_runs.push_back((run->*scores).at(i));
    result.push_back(over_seeds(of_runs));
  }
  return result;
}

}  // namespace

SeedScore over_seeds(const std::vector<LengthScore>& scores) {
  SeedScore result{.runs = static_cast<std::int64_t>(scores.size())};
  std::vector<double> losses;
  for (const LengthScore& score : scores) {
    if (!score.perplexity) continue;
    losses.push_back(std::log(*score.perplexity));
    result.perplexity = score.perplexity;
  }
  result.scored = static_cast<std::int64_t>(losses.size());
  if (result.scored < 2) return result;  // the very number
  double sum = 0, squares = 0;
  for (const double loss : losses) sum += loss;
  const double mean = sum / static_cast<double>(losses.size());
  for (const double loss : losses) squares += (loss - mean) * (loss - mean);
  result.perplexity = std::exp(mean);
  result.factor = std::exp(std::sqrt(squares / static_cast<double>(losses.size() - 1)));
  return result;
}

std::vector<SchemeScores> over_seeds(const ExtrapolationTable& table) {
  std::vector<SchemeScores> schemes;
  for (const ExtrapolationRow& first : table.rows) {
    const std::string label = with_stage(first.label, first.stage);
    if (std::ranges::find(schemes, label, &SchemeScores::label) != schemes.end()) continue;
    SchemeScores& scheme = schemes.emplace_back();
    scheme.label = label;
    scheme.schemes = first.schemes;
    std::vector<const ExtrapolationRow*> runs;
    for (const ExtrapolationRow& row : table.rows) {
      if (row.label != first.label || row.stage != first.stage) continue;
      runs.push_back(&row);
      scheme.seeds.push_back(row.seed);
    }
    scheme.segments = over_lengths(runs, &ExtrapolationRow::segments, table.lengths.size());
    scheme.sliding = over_lengths(runs, &ExtrapolationRow::sliding, table.lengths.size());
  }
  return schemes;
}

}  // namespace sextant
