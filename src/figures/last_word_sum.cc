// The sum that the last word gets, as two walks.
#include "sextant/figures/last_word_sum.h"

#include <algorithm>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/lessons/last_word_sum.h"

namespace sextant::figures {
namespace {

constexpr std::size_t kMostLabels = 8;  // words next to their points; more would overlap

Series walk_of(std::string name, const Tensor<double>& sums) {
  Series walk{.name = std::move(name), .x = {}, .y = {}};
  for (std::int64_t step = 0; step < sums.size(0); ++step) {
    walk.x.push_back(sums(step, 0));
    walk.y.push_back(sums(step, 1));
  }
  return walk;
}

}  // namespace

Figure plot_last_word_sum(const WordTerms& first, const WordTerms& second, const std::string& title,
                          std::optional<double> max_width) {
  if (first.terms.size(1) < 2) {
    throw Error("figure.width", "must be at least 2 for a picture of the sum, got " +
                                    std::to_string(first.terms.size(1)));
  }
  const Tensor<double> one = running_sums(first.terms), other = running_sums(second.terms);
  LinePanels chart;
  chart.title = title;
  chart.x_label = "Channel 0 of what the last word gets";
  chart.y_label = "Channel 1";
  chart.markers = true;
  chart.panel_width = 400;
  chart.panel_height = 280;
  chart.max_width = max_width.value_or(chart.max_width);
  chart.panels = {{.series = {walk_of("first order", one), walk_of("second order", other)}}};
  if (first.words.size() <= kMostLabels) {
    chart.point_labels = {"0"};
    for (const std::string& word : first.words) chart.point_labels.push_back("+ " + word);
  }
  const std::int64_t steps = std::max(one.size(0), other.size(0));
  Figure figure{draw(chart), Tensor<double>({steps, 4}), {}, {}};
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t a = std::min(step, one.size(0) - 1), b = std::min(step, other.size(0) - 1);
    figure.values(step, 0) = one(a, 0);
    figure.values(step, 1) = one(a, 1);
    figure.values(step, 2) = other(b, 0);
    figure.values(step, 3) = other(b, 1);
  }
  figure.labels.title = title;
  figure.labels.row_name = "Words so far";
  figure.labels.column_name = "Channels 0 and 1 of both sums";
  figure.columns = {"first 0", "first 1", "second 0", "second 1"};
  return figure;
}

}  // namespace sextant::figures
