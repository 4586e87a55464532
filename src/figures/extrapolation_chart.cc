// Perplexities by length, as lines.
#include "sextant/figures/extrapolation_chart.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sextant/figures/named_scheme.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

// A factor of this between the largest and the smallest number needs a logarithmic axis.
constexpr double kMuch = 3;

LinePanels chart_of(const ExtrapolationTable& table, const Scoring& scoring) {
  LinePanels chart;
  LinePanel& panel = chart.panels.emplace_back();
  chart.title = scoring.title;
  chart.x_label = "Test length (trained at " + std::to_string(table.train_length) + ")";
  chart.y_label = "Perplexity";
  chart.markers = chart.log_x = true;
  for (const std::int64_t length : table.lengths) {
    chart.x_ticks.push_back(static_cast<double>(length));
  }
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const ExtrapolationRow& row : table.rows) {
    Series series{.name = row.positions.empty() ? row.label : picture_name(row.positions),
                  .x = chart.x_ticks,
                  .y = {}};
    for (const LengthScore& score : row.*scoring.scores) {
      series.y.push_back(score.perplexity.value_or(std::numeric_limits<double>::quiet_NaN()));
      if (!score.perplexity) continue;
      low = std::min(low, *score.perplexity);
      high = std::max(high, *score.perplexity);
    }
    panel.series.push_back(std::move(series));
  }
  chart.log_y = high > kMuch * low;
  return chart;
}

}  // namespace

std::vector<Scoring> scorings(const ExtrapolationTable& table, const std::string& token) {
  return {{"Segments that do not overlap, every " + token + " scored", &ExtrapolationRow::segments},
          {"Sliding windows, the last " + std::to_string(table.stride) + " scored",
           &ExtrapolationRow::sliding}};
}

Picture extrapolation_chart(const ExtrapolationTable& table, const std::string& token) {
  std::vector<Picture> panels;
  for (const Scoring& scoring : scorings(table, token)) {
    panels.push_back(draw(chart_of(table, scoring)));
  }
  return stack("Perplexity per " + token + " by length", panels);
}

}  // namespace sextant::figures
