// What charts keep of the numbers that they draw.
#include "sextant/pictures/chart_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/names.h"
#include "sextant/pictures/charts.h"
#include "sextant/pictures/dot_plot.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using Kind = ChartNumbers::Kind;

const ChartNumbers& only(const Picture& picture) {
  EXPECT_EQ(picture.numbers.size(), 1u);
  return *picture.numbers.at(0);
}

Tensor<double> counted_matrices(const Shape& shape) {
  Tensor<double> numbers(shape);
  for (std::int64_t i = 0; i < numbers.count(); ++i) numbers.data()[i] = static_cast<double>(i) / 8;
  return numbers;
}

TEST(ChartNumbers, OfHeatmapsAreTheirMatrices) {
  Tensor<double> values = counted_matrices({2, 2, 3});
  HeatmapPanels panels{.values = values, .titles = {"a", "b"}};
  panels.title = "t";
  panels.x_label = "key";
  panels.y_label = "query";
  panels.color_label = "bias";
  panels.first_row = 7;
  const Picture picture = draw(panels);
  values(1, 1, 2) = 99;  // the picture has a copy
  const ChartNumbers& numbers = only(picture);
  EXPECT_EQ(numbers.kind, Kind::matrices);
  EXPECT_THAT((std::vector{numbers.title, numbers.x_label, numbers.y_label, numbers.value_label}),
              ElementsAre("t", "key", "query", "bias"));
  ASSERT_EQ(numbers.panels.size(), 2u);
  EXPECT_EQ(numbers.panels[1].title, "b");
  EXPECT_EQ(numbers.panels[1].arrays.at(0).numbers.shape(), (Shape{2, 3}));
  EXPECT_EQ(numbers.panels[1].arrays.at(0).numbers(1, 2), 11.0 / 8);
  EXPECT_EQ(numbers.first_row, 7);
  EXPECT_LE(numbers.low, 0);
  EXPECT_GE(numbers.high, 11.0 / 8);
  EXPECT_EQ(numbers.map, ColorMap::viridis);
}

TEST(ChartNumbers, OfAttentionAreItsWeightsWithTheirTokens) {
  Tensor<double> weights = counted_matrices({2, 1, 2});
  weights(0, 0, 1) = -HUGE_VAL;
  const Picture maps = draw(AttentionMaps{weights, {"q"}, {"a", "b"}, "Attention"});
  EXPECT_EQ(only(maps).panels.at(0).title, "Head 0");
  EXPECT_EQ(only(maps).panels.at(0).arrays.at(0).numbers(0, 1), -HUGE_VAL);
  EXPECT_EQ(only(maps).panels.at(1).arrays.at(0).numbers(0, 1), 3.0 / 8);
  EXPECT_THAT(only(maps).row_labels, ElementsAre("q"));
  EXPECT_THAT(only(maps).column_labels, ElementsAre("a", "b"));
  EXPECT_EQ(only(maps).high, 1);
  weights(0, 0, 1) = 0;
  const Picture lines = draw(AttentionLines{weights.view(), {"q"}, {"a", "b"}, "Attention"});
  EXPECT_EQ(only(lines).panels.at(1).arrays.at(0).numbers(0, 1), 3.0 / 8);
  EXPECT_THAT(only(lines).column_labels, ElementsAre("a", "b"));
}

TEST(ChartNumbers, OfLinesAreTheirPointsBandsAndCurve) {
  LinePanels chart{.title = "t", .x_label = "x", .y_label = "y", .panels = {{"p"}}};
  chart.panels[0].series = {{"a", {1, 2, 4}, {3, 5, 7}, {2, 4, 6}, {4, 6, 8}},
                            {"b", {1, 2}, {9, 8}, {}, {}}};
  chart.panels[0].curve = {"", {1, 1.5}, {3, 4}, {}, {}};
  chart.log_x = true;
  const Picture picture = draw(chart);
  const ChartNumbers& numbers = only(picture);
  EXPECT_EQ(numbers.kind, Kind::lines);
  const auto& arrays = numbers.panels.at(0).arrays;
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_THAT((std::vector<double>(arrays[0].numbers.data(), arrays[0].numbers.data() + 12)),
              ElementsAre(1, 3, 2, 4, 2, 5, 4, 6, 4, 7, 6, 8));
  EXPECT_EQ(arrays[1].numbers.shape(), (Shape{2, 2}));
  EXPECT_EQ(numbers.panels.at(0).curve(1, 0), 1.5);
  EXPECT_TRUE(numbers.log_x);
  EXPECT_FALSE(numbers.log_y);
}

// The picture draws equal lines as one and many lines in panels of their own; the numbers are those
// that were given.
TEST(ChartNumbers, OfManyLinesAreAllOfThem) {
  LinePanels chart{.title = "t", .panels = {{""}}};
  for (int i = 0; i < 8; ++i) {
    const double y = i == 7 ? 6 : i;
    chart.panels[0].series.push_back({std::to_string(i), {0, 1}, {y, y + 1}});
  }
  const Picture picture = draw(chart);
  EXPECT_THAT(picture.svg, ::testing::HasSubstr("6 = 7"));
  ASSERT_EQ(only(picture).panels.size(), 1u);
  EXPECT_EQ(only(picture).panels[0].arrays.size(), 8u);
  EXPECT_EQ(only(picture).panels[0].arrays[7].name, "7");
}

TEST(ChartNumbers, OfDotsAreAChartPerGroup) {
  const Picture picture = draw(DotPlot{
      .title = "t", .x_label = "x", .groups = {{"g", {{"a", 1}, {"b", 2}}}, {"h", {{"c", 3}}}}});
  ASSERT_EQ(picture.numbers.size(), 2u);
  EXPECT_THAT(picture.numbers[0]->row_labels, ElementsAre("a", "b"));
  EXPECT_EQ(picture.numbers[0]->panels.at(0).arrays.at(0).numbers(1, 0), 2);
  EXPECT_EQ(picture.numbers[1]->title, "h");
}

TEST(ChartNumbers, OfAStackAreThoseOfItsPictures) {
  const Tensor<double> values = counted_matrices({2, 3});
  const Picture map = draw(HeatmapPanels{.values = values, .title = "map"});
  const Picture lines =
      draw(LinePanels{.title = "lines", .panels = {{"", {{"a", {0, 1}, {2, 3}}}}}});
  const Picture both = stack("", {map, lines});
  ASSERT_EQ(both.numbers.size(), 2u);
  EXPECT_EQ(both.numbers[0], map.numbers[0]) << "not copied again";
  EXPECT_EQ(both.numbers[1]->title, "lines");
}

TEST(ChartNumbers, KindsAndColoursHaveNames) {
  EXPECT_THAT(names_of<Kind>(), ElementsAre("matrices", "lines", "points", "dots"));
  EXPECT_THAT(names_of<ColorMap>(), ElementsAre("viridis", "diverging", "sequential"));
}

}  // namespace
}  // namespace sextant
