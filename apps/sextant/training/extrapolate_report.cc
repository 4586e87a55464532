// The table of an extrapolation for a person.
#include "training/extrapolate_report.h"

#include <algorithm>

#include "options/arguments.h"
#include "sextant/core/numbers.h"
#include "sextant/experiments/seeds.h"
#include "sextant/figures/extrapolation_chart.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

std::string number(double perplexity) {
  return perplexity < 1000 ? fixed(perplexity, perplexity < 100 ? 3 : 1)
                           : significant(perplexity, 4);
}

// " (2 of 3)" where there are fewer than there should be.
std::string counted(std::int64_t count, std::int64_t all, const std::string& what = "") {
  if (count == all) return "";
  return " (" + std::to_string(count) + " of " + std::to_string(all) + what + ")";
}

std::string cell(const SeedScore& score) {
  if (!score.perplexity) return "-";
  return number(*score.perplexity) + (score.factor ? " ×÷" + number(*score.factor) : "") +
         counted(score.scored, score.runs);
}

// A line per run without numbers; one where all runs of a scheme have the same reason.
std::string reasons_of(const ExtrapolationTable& table, const SchemeScores& scheme) {
  std::vector<std::string> lines, reasons;
  for (const ExtrapolationRow& row : table.rows) {
    const std::string label = with_stage(row.label, row.stage);
    if (label != scheme.label) continue;
    const auto none = std::ranges::find_if(
        row.segments, [](const LengthScore& score) { return !score.perplexity; });
    if (none == row.segments.end()) continue;
    reasons.push_back(none->reason);
    const std::string seed = row.seed ? ", seed " + std::to_string(*row.seed) : "";
    lines.push_back("- " + label + seed + ": " + none->reason + "\n");
  }
  if (reasons.empty()) return "";
  const bool same =
      reasons.size() == scheme.seeds.size() &&
      std::ranges::all_of(reasons, [&](const auto& one) { return one == reasons[0]; });
  if (same) return "- " + scheme.label + ": " + reasons[0] + "\n";
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

std::string report_text(const ExtrapolationTable& table, const std::string& unit) {
  const std::string trained_at = std::to_string(table.train_length);
  std::string text = "Perplexity per " + unit + " of the same " + grouped(table.scored.count) + " ";
  text += table.steps == 0
              ? unit + "s; a model of length " + trained_at +
                    " with its own positions and with others in their place"
              : "held-out " + unit + "s; " +
                    (table.rows.front().stage ? "one model trained further with every scheme"
                                              : "every scheme trained") +
                    " at length " + trained_at + " for " + grouped(table.steps) +
                    (table.steps == 1 ? " step" : " steps");
  if (table.seeds > 1) {
    text += " with " + std::to_string(table.seeds) +
            " seeds.\nMean and standard deviation: exp of the mean loss, ×÷ exp of the sample "
            "standard deviation of the losses";
  }
  text += "\n";
  const std::vector<SchemeScores> schemes = over_seeds(table);
  for (const figures::Scoring& scoring : figures::scorings(table, unit)) {
    std::vector<std::vector<std::string>> rows(1, {"  scheme"});
    for (const std::int64_t length : table.lengths) rows[0].push_back(std::to_string(length));
    for (const SchemeScores& scheme : schemes) {
      const auto runs = static_cast<std::int64_t>(scheme.seeds.size());
      rows.push_back({"  " + scheme.label + counted(runs, table.seeds, " seeds")});
      for (const SeedScore& score : scheme.*scoring.scores) rows.back().push_back(cell(score));
    }
    text += "\n" + scoring.title + ":\n" + aligned(rows);
  }
  std::string reasons;
  for (const SchemeScores& scheme : schemes) reasons += reasons_of(table, scheme);
  return text + (reasons.empty() ? "" : "\n" + reasons);
}

}  // namespace sextant::app
