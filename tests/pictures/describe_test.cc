// What pictures say of themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "pictures/samples.h"
#include "sextant/pictures/charts.h"

namespace sextant {
namespace {

TEST(Description, OfAttentionMapsNamesTheLargestWeightAndCountsWhatIsHidden) {
  Tensor<double> weights({2, 2, 3});
  weights(1, 0, 2) = 0.8125;
  weights(0, 1, 1) = 0.5;
  weights(0, 0, 0) = weights(1, 1, 0) = -INFINITY;
  AttentionMaps maps{
      .weights = weights, .queries = {"sat", "on"}, .keys = {"the", "black", "▁cat"}, .title = "T"};
  EXPECT_EQ(draw(maps).description,
            "Heatmap of attention weights, 2 queries by 3 keys in 2 heads; largest weight 0.812 "
            "from 'sat' to '·cat' in head 1; 2 of 12 pairs hidden.");
  maps.weights = weights.view().select(0, 0).narrow(0, 1, 1);
  maps.queries = {"on"};
  EXPECT_EQ(draw(maps).description,
            "Heatmap of attention weights, 1 query by 3 keys; largest weight 0.5 from 'on' to "
            "'black'.");
  maps.row_name = "Written";
  maps.column_name = "Source tokens";
  EXPECT_EQ(draw(maps).description,
            "Heatmap of attention weights, 1 row (Written) by 3 source tokens; largest weight 0.5 "
            "from 'on' to 'black'.");
}

TEST(Description, OfLinesSaysHowManyThereAre) {
  Tensor<double> weights({1, 1, 3});
  weights(0, 0, 0) = 0.75;
  weights(0, 0, 1) = 0.25;
  const AttentionLines lines{
      .weights = weights, .queries = {"q"}, .keys = {"a", "b", "c"}, .title = ""};
  EXPECT_EQ(draw(lines).description,
            "Lines of attention weights, 1 query by 3 keys, more opaque where the weight is "
            "larger; 2 lines from weight 0.02 on; strongest 0.75 from 'q' to 'a'.");
}

TEST(Description, OfHeatmapsSaysTheAxesAndTheRange) {
  Tensor<double> values({2, 3, 4});
  values(1, 2, 3) = 7;
  values(0, 0, 0) = -1.5;
  HeatmapPanels panels;
  panels.values = std::as_const(values).view();
  panels.titles = {"a", "b"};
  panels.x_label = "Key";
  panels.color_label = "Bias";
  panels.first_column = -3;
  panels.row_labels = {"x", "y", "z"};
  EXPECT_EQ(draw(panels).description,
            "2 heatmaps of Bias (a, b): 3 rows, 'x' to 'z' by 4 columns, Key -3 to 0; values from "
            "-1.5 to 7, largest at 'z' and Key 0 of b.");
}

TEST(Description, OfCurvesNamesThemAndTheHighest) {
  LinePanels chart = testing::chart_of({counted("rising", {0, 1, 4}), counted("flat", {2, 2, 2})});
  chart.x_label = "Distance";
  chart.y_label = "Score";
  EXPECT_EQ(draw(chart).description,
            "Lines of Score by Distance: rising, flat; x from 0 to 2, y from 0 to 4, highest at 2 "
            "(rising).");
}

}  // namespace
}  // namespace sextant
