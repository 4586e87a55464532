// Perplexities by length, as lines.
#include "sextant/figures/extrapolation_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sextant/experiments/seeds.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

// A factor of this between the largest and the smallest number needs a logarithmic axis.
constexpr double kMuch = 3;

// As pictures call it; as the file does where another program knows the scheme and this one does
// not.
std::string shown_name(const SchemeScores& scheme) {
  const auto is_known = [](const SchemeSpec& each) {
    return std::ranges::any_of(schemes(),
                               [&](const Scheme* one) { return one->name == each.scheme; });
  };
  const bool known = !scheme.schemes.empty() && std::ranges::all_of(scheme.schemes, is_known);
  if (!known) return scheme.label;
  // What a label adds to the scheme: "none, before", "rotary, its own".
  const std::string own = label_of(scheme.schemes);
  const bool adds = scheme.label.starts_with(own + ", ");
  return picture_name(scheme.schemes) + (adds ? scheme.label.substr(own.size()) : "");
}

// "Rotary (2 of 3 seeds)" where a number is a mean of fewer seeds than were asked for.
std::string name_of(const SchemeScores& scheme, const std::vector<SeedScore>& scores,
                    std::int64_t seeds) {
  std::int64_t fewest = seeds;
  for (const SeedScore& score : scores) {
    if (score.scored > 0) fewest = std::min(fewest, score.scored);
  }
  std::string name = shown_name(scheme);
  if (fewest == seeds) return name;
  return name + " (" + std::to_string(fewest) + " of " + std::to_string(seeds) + " seeds)";
}

// Through the means, with a band of one deviation where there are several seeds.
Series line_of(const SchemeScores& scheme, const std::vector<SeedScore>& scores,
               std::int64_t seeds) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Series line{.name = name_of(scheme, scores, seeds), .x = {}, .y = {}};
  for (const SeedScore& score : scores) {
    const double mean = score.perplexity.value_or(kNone), factor = score.factor.value_or(kNone);
    line.y.push_back(mean);
    if (seeds == 1) continue;
    line.low.push_back(mean / factor);
    line.high.push_back(mean * factor);
  }
  return line;
}

LinePanels chart_of(const ExtrapolationTable& table, const Scoring& scoring,
                    std::optional<double> max_width) {
  LinePanels chart;
  chart.max_width = max_width.value_or(chart.max_width);
  LinePanel& panel = chart.panels.emplace_back();
  chart.title = scoring.title;
  chart.x_label = "Test length (trained at " + std::to_string(table.train_length) + ")";
  chart.y_label = "Perplexity";
  chart.markers = chart.log_x = true;
  for (const std::int64_t length : table.lengths) {
    chart.x_ticks.push_back(static_cast<double>(length));
  }
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const SchemeScores& scheme : over_seeds(table)) {
    const std::vector<SeedScore>& scores = scheme.*scoring.scores;
    panel.series.push_back(line_of(scheme, scores, table.seeds));
    Series& line = panel.series.back();
    line.x = chart.x_ticks;
    for (const auto* values : {&line.y, &line.low, &line.high}) {
      for (const double value : *values) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
    if (std::ranges::any_of(scores,
                            [](const SeedScore& score) { return score.factor.has_value(); })) {
      chart.band = std::to_string(table.seeds) + " seeds: mean, standard deviation";
    }
  }
  chart.log_y = high > kMuch * low;
  return chart;
}

}  // namespace

std::vector<Scoring> scorings(const ExtrapolationTable& table, const std::string& token) {
  return {{"Segments that do not overlap, every " + token + " scored", &SchemeScores::segments},
          {"Sliding windows, the last " + std::to_string(table.stride) + " scored",
           &SchemeScores::sliding}};
}

Picture extrapolation_chart(const ExtrapolationTable& table, const std::string& token,
                            std::optional<double> max_width) {
  std::vector<Picture> panels;
  for (const Scoring& scoring : scorings(table, token)) {
    panels.push_back(draw(chart_of(table, scoring, max_width)));
  }
  return stack("Perplexity per " + token + " by length", panels);
}

}  // namespace sextant::figures
