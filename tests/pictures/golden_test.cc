// One small picture of every kind, byte for byte as it was when somebody last looked at it.
#include <gtest/gtest.h>

#include <limits>

#include "pictures/golden.h"
#include "pictures/samples.h"
#include "sextant/pictures/charts.h"

namespace sextant {
namespace {

TEST(Golden, LineChart) {
  Series rising{.name = "rising", .x = {}, .y = {}}, falling{.name = "falling", .x = {}, .y = {}};
  for (int i = 0; i <= 8; ++i) {
    rising.x.push_back(i);
    rising.y.push_back(i * i / 64.0);
    falling.x.push_back(i);
    falling.y.push_back(-i / 16.0);
  }
  LinePanels chart = testing::chart_of({rising, falling});
  chart.title = "Lines";
  chart.x_label = "Distance";
  chart.y_label = "Similarity";
  testing::expect_golden("pictures/golden/line_chart", draw(chart));
}

TEST(Golden, Bands) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Series steady{.name = "steady", .x = {1, 2, 4, 8}, .y = {3, 3.25, 3, 3.5}};
  steady.low = {2.75, 3, 2.5, 2.5};
  steady.high = {3.25, 3.5, 3.5, 4.5};
  Series rising{.name = "rising", .x = {1, 2, 4, 8}, .y = {2, 3, 6, 12}};
  rising.low = {1.5, 2, kNone, 8};  // an area, nothing, a bar
  rising.high = {2.5, 4, kNone, 16};
  LinePanels chart = testing::chart_of({steady, rising});
  chart.title = "Bands";
  chart.x_label = "Length";
  chart.y_label = "Perplexity";
  chart.markers = chart.log_x = chart.log_y = true;
  chart.x_ticks = {1, 2, 4, 8};
  chart.band = "3 seeds: mean, standard deviation";
  testing::expect_golden("pictures/golden/bands", draw(chart));
}

TEST(Golden, SinusoidPanels) {
  const Tensor<double> table = testing::sinusoids(25, 20);
  LinePanels chart = testing::panels_of(table, 1, {0, 1, 8}, testing::words(5));
  chart.panels[0].title = "Sine 0";
  chart.panels[1].title = "Cosine 0";
  chart.panels[2].title = "Sine 4";
  chart.description = "Columns of the position table";
  testing::expect_golden("pictures/golden/sinusoid_panels", draw(chart));
}

TEST(Golden, RowPanels) {
  const Tensor<double> table = testing::sinusoids(11, 16);
  LinePanels chart = testing::panels_of(table, 0, {0, 4, 10});
  chart.panels[0].title = "Position 0";
  chart.panels[1].title = "Position 4";
  chart.panels[2].title = "Position 10";
  chart.x_label = "Dimension";
  chart.points = true;
  chart.panel_width = 310;
  chart.panel_height = 210;
  chart.description = "Rows of the position table";
  testing::expect_golden("pictures/golden/row_panels", draw(chart));
}

TEST(Golden, Heatmap) {
  const Tensor<double> table = testing::sinusoids(20, 32);
  HeatmapPanels heatmap;
  heatmap.values = table;
  heatmap.title = "Sinusoidal positions";
  heatmap.x_label = "Dimension";
  heatmap.y_label = "Position";
  heatmap.color_label = "Value";
  heatmap.map = ColorMap::diverging;
  testing::expect_golden("pictures/golden/heatmap", draw(heatmap));
}

TEST(Golden, HeatmapPanels) {
  const Tensor<double> weights = testing::weights(5, 6, 8);
  HeatmapPanels panels;
  panels.values = weights.view();
  panels.titles = {"none", "added", "rotated", "by distance", "by pairs"};
  panels.title = "Matrices side by side";
  panels.x_label = "Key - query";
  panels.y_label = "Query";
  panels.color_label = "Weight";
  panels.first_column = -4;
  testing::expect_golden("pictures/golden/heatmap_panels", draw(panels));
}

TEST(Golden, AttentionMap) {
  const Tensor<double> weights = testing::weights(1, 5, 6);
  testing::expect_golden("pictures/golden/attention_map",
                         draw(AttentionMaps{.weights = weights,
                                            .queries = testing::words(5),
                                            .keys = testing::hard_words(6),
                                            .title = "Attention · Head 2"}));
}

TEST(Golden, AttentionMaps) {
  const Tensor<double> weights = testing::weights(4, 5, 5);
  testing::expect_golden("pictures/golden/attention_maps",
                         draw(AttentionMaps{.weights = weights,
                                            .queries = testing::words(5),
                                            .keys = testing::words(5),
                                            .title = "All heads"}));
}

TEST(Golden, AttentionLines) {
  const Tensor<double> weights = testing::weights(2, 4, 5);
  testing::expect_golden("pictures/golden/attention_lines",
                         draw(AttentionLines{.weights = weights,
                                             .queries = testing::words(4),
                                             .keys = testing::words(5),
                                             .title = "Who looks at whom"}));
}

}  // namespace
}  // namespace sextant
