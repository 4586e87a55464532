// The table of an extrapolation for a person.
#include "training/extrapolate_report.h"

#include "options/arguments.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/extrapolation_chart.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

std::string number(double perplexity) {
  return perplexity < 1000 ? fixed(perplexity, perplexity < 100 ? 3 : 1)
                           : significant(perplexity, 4);
}

}  // namespace

std::string text_of(const ExtrapolationTable& table, const std::string& unit) {
  std::string text = "Perplexity per " + unit + " of the same " + grouped(table.scored.count) +
                     " held-out " + unit + "s; every scheme trained at length " +
                     std::to_string(table.train_length) + " for " + grouped(table.steps) +
                     (table.steps == 1 ? " step\n" : " steps\n");
  for (const figures::Scoring& scoring : figures::scorings(table, unit)) {
    std::vector<std::vector<std::string>> rows(1, {"  scheme"});
    for (const std::int64_t length : table.lengths) rows[0].push_back(std::to_string(length));
    for (const ExtrapolationRow& row : table.rows) {
      rows.push_back({"  " + row.label});
      for (const LengthScore& score : row.*scoring.scores) {
        rows.back().push_back(score.perplexity ? number(*score.perplexity) : "-");
      }
    }
    text += "\n" + scoring.title + ":\n" + aligned(rows);
  }
  std::string reasons;
  for (const ExtrapolationRow& row : table.rows) {
    for (const LengthScore& score : row.segments) {
      if (score.perplexity) continue;
      reasons += "- " + row.label + ": " + score.reason + "\n";
      break;
    }
  }
  return text + (reasons.empty() ? "" : "\n" + reasons);
}

}  // namespace sextant::app
