// One small picture of every kind, byte for byte as it was when somebody last looked at it. Run
// with SEXTANT_UPDATE_GOLDEN=1 to accept the pictures of now, then look at each before committing.
#include <gtest/gtest.h>

#include <cstdlib>

#include "pictures/samples.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/pictures/charts.h"
#include "support/folders.h"

namespace sextant {
namespace {

// The compressed bytes of images belong to the version of zlib; pixels_test.cc decodes them.
std::string without_pixels(std::string svg) {
  const std::string begin = "base64,";
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
    at += begin.size();
    svg.replace(at, svg.find('"', at) - at, "pixels");
  }
  return svg;
}

void compare(const std::string& name, const Picture& picture) {
  const std::string path = sextant::tests::data_folder() + "/pictures/golden/" + name + ".svg";
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    // The file keeps its pixels so that it can be looked at.
    write_file(path, picture.svg);
    return;
  }
  std::string golden;
  ASSERT_NO_THROW(golden = read_file(path));
  EXPECT_TRUE(without_pixels(golden) == without_pixels(picture.svg))
      << path << " differs. To see how, run this test again with SEXTANT_UPDATE_GOLDEN=1 and look "
      << "at the difference with git; commit it if it is what you want.";
}

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
  compare("line_chart", draw(chart));
}

TEST(Golden, SinusoidPanels) {
  const Tensor<double> table = testing::sinusoids(25, 20);
  LinePanels chart = testing::panels_of(table, 1, {0, 1, 8}, testing::words(5));
  chart.panels[0].title = "Sine 0";
  chart.panels[1].title = "Cosine 0";
  chart.panels[2].title = "Sine 4";
  chart.description = "Columns of the position table";
  compare("sinusoid_panels", draw(chart));
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
  compare("row_panels", draw(chart));
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
  compare("heatmap", draw(heatmap));
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
  compare("heatmap_panels", draw(panels));
}

TEST(Golden, AttentionMap) {
  const Tensor<double> weights = testing::weights(1, 5, 6);
  compare("attention_map", draw(AttentionMaps{.weights = weights,
                                              .queries = testing::words(5),
                                              .keys = testing::hard_words(6),
                                              .title = "Attention · Head 2"}));
}

TEST(Golden, AttentionMaps) {
  const Tensor<double> weights = testing::weights(4, 5, 5);
  compare("attention_maps", draw(AttentionMaps{.weights = weights,
                                               .queries = testing::words(5),
                                               .keys = testing::words(5),
                                               .title = "All heads"}));
}

TEST(Golden, AttentionLines) {
  const Tensor<double> weights = testing::weights(2, 4, 5);
  compare("attention_lines", draw(AttentionLines{.weights = weights,
                                                 .queries = testing::words(4),
                                                 .keys = testing::words(5),
                                                 .title = "Who looks at whom"}));
}

}  // namespace
}  // namespace sextant
