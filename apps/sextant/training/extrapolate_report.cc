// The table of an extrapolation for a person, and its picture.
#include "training/extrapolate_report.h"

#include <algorithm>
#include <limits>

#include "options/arguments.h"
#include "sextant/core/numbers.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

struct Scoring {
  std::string title;
  std::vector<LengthScore> ExtrapolationRow::*scores;
};

std::vector<Scoring> scorings(const ExtrapolationTable& table, const std::string& unit) {
  return {{"Segments that do not overlap, every " + unit + " scored", &ExtrapolationRow::segments},
          {"Sliding windows, the last " + std::to_string(table.stride) + " scored",
           &ExtrapolationRow::sliding}};
}

std::string number(double perplexity) {
  return perplexity < 1000 ? fixed(perplexity, perplexity < 100 ? 3 : 1)
                           : significant(perplexity, 4);
}

// A factor of this between the largest and the smallest number needs a logarithmic axis.
constexpr double kMuch = 3;

LineChart chart_of(const ExtrapolationTable& table, const Scoring& scoring) {
  LineChart chart;
  chart.title = scoring.title;
  chart.x_label = "Test length (trained at " + std::to_string(table.train_length) + ")";
  chart.y_label = "Perplexity";
  chart.markers = chart.log_x = true;
  for (const std::int64_t length : table.lengths) {
    chart.x_ticks.push_back(static_cast<double>(length));
  }
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const ExtrapolationRow& row : table.rows) {
    Series series{.name = row.label, .x = chart.x_ticks, .y = {}};
    for (const LengthScore& score : row.*scoring.scores) {
      series.y.push_back(score.perplexity.value_or(std::numeric_limits<double>::quiet_NaN()));
      if (!score.perplexity) continue;
      low = std::min(low, *score.perplexity);
      high = std::max(high, *score.perplexity);
    }
    chart.series.push_back(std::move(series));
  }
  chart.log_y = high > kMuch * low;
  return chart;
}

}  // namespace

std::string text_of(const ExtrapolationTable& table, const std::string& unit) {
  std::string text = "Perplexity per " + unit + " of the same " + grouped(table.scored.count) +
                     " held-out " + unit + "s; every scheme trained at length " +
                     std::to_string(table.train_length) + " for " + grouped(table.steps) +
                     (table.steps == 1 ? " step\n" : " steps\n");
  for (const Scoring& scoring : scorings(table, unit)) {
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

Picture picture_of(const ExtrapolationTable& table, const std::string& unit) {
  std::vector<Picture> panels;
  for (const Scoring& scoring : scorings(table, unit)) {
    panels.push_back(draw(chart_of(table, scoring)));
  }
  return stack("Perplexity per " + unit + " by length", panels);
}

}  // namespace sextant::app
