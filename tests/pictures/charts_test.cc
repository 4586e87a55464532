// What lines, panels and heatmaps show and refuse.
#include "sextant/pictures/charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pictures/samples.h"
#include "pictures/svg_reader.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> texts(const Picture& picture) {
  std::vector<std::string> found;
  for (const auto& text : testing::all(testing::read_xml(picture.svg), "text")) {
    found.push_back(text.text);
  }
  return found;
}

TEST(LineChart, NamesItsSeriesOnlyWhenThereAreSeveral) {
  LineChart chart{.title = "T", .x_label = "X", .y_label = "Y", .series = {}};
  chart.series.push_back({.name = "first", .x = {0, 1}, .y = {0, 1}});
  EXPECT_THAT(texts(draw(chart)), IsSupersetOf({"T", "X", "Y"}));
  EXPECT_THAT(texts(draw(chart)), Not(Contains("first")));
  chart.series.push_back({.name = "second", .x = {0, 1}, .y = {1, 0}});
  EXPECT_THAT(texts(draw(chart)), IsSupersetOf({"first", "second"}));
}

TEST(LineChart, NumbersThatAreMissingBreakTheLine) {
  const LineChart chart{.title = "",
                        .x_label = "",
                        .y_label = "",
                        .series = {{.name = "", .x = {0, 1, 2, 3, 4}, .y = {0, 1, NAN, 1, 0}}}};
  std::string line;
  for (const auto& path : testing::all(testing::read_xml(draw(chart).svg), "path")) {
    if (path.attributes.count("fill") != 0) line = path.attributes.at("d");
  }
  EXPECT_EQ(std::count(line.begin(), line.end(), 'M'), 2);
  EXPECT_EQ(std::count(line.begin(), line.end(), 'L'), 2);
}

TEST(LineChart, ManyPointsAreThinnedWithoutLosingAPeak) {
  Series series{.name = "", .x = {}, .y = {}};
  for (int i = 0; i < 200000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 123457 ? 50 : i % 2);
  }
  const LineChart chart{.title = "", .x_label = "", .y_label = "", .series = {series}};
  const Picture picture = draw(chart);
  EXPECT_LT(picture.svg.size(), 200000u);
  // The peak is the upper end of the y range before its margin of a twentieth on both sides: at
  // 0.05 / 1.1 of the panel's 300 pixels below its top, which is at 24.
  EXPECT_THAT(picture.svg, HasSubstr(" 37.64L"));
}

TEST(LineChart, HasPowersOfTenOnLogarithmicAxes) {
  LineChart chart{.title = "", .x_label = "", .y_label = "", .series = {}, .log_y = true};
  chart.series.push_back({.name = "", .x = {0, 1, 2}, .y = {1, 10, 100}});
  std::string line;
  for (const auto& path : testing::all(testing::read_xml(draw(chart).svg), "path")) {
    if (path.attributes.count("fill") != 0) line = path.attributes.at("d");
  }
  // Equal factors are equal heights: the three points lie on one line.
  std::vector<double> heights;
  for (std::size_t at = 0; (at = line.find(' ', at)) != std::string::npos;) {
    heights.push_back(std::strtod(line.c_str() + ++at, nullptr));
  }
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_NEAR(heights[0] - heights[1], heights[1] - heights[2], 0.2) << "two decimals each";
  EXPECT_THAT(texts(draw(chart)), IsSupersetOf({"1", "10", "100"}));
  for (const double bad : {0.0, -1.0}) {
    chart.series[0].y[1] = bad;
    EXPECT_THROW(draw(chart), Error);
  }
  chart.series[0].y[1] = NAN;  // a gap, as ever
  EXPECT_NO_THROW(draw(chart));
}

TEST(LineChart, HasAsManyNumbersOnALogarithmicAxisAsFit) {
  for (const double most : {1.02, 1.5, 4.0, 30.0, 1e4, 1e12, 1e300}) {
    LineChart chart{
        .title = "", .x_label = "", .y_label = "", .series = {}, .log_x = true, .log_y = true};
    chart.series.push_back({.name = "", .x = {1, most}, .y = {1, most}});
    const auto numbers = texts(draw(chart));
    EXPECT_GE(numbers.size(), 4u) << most;
    EXPECT_LE(numbers.size(), 40u) << most;
  }
}

TEST(LineChart, PutsNumbersWhereItIsTold) {
  LineChart chart{.title = "",
                  .x_label = "",
                  .y_label = "",
                  .series = {},
                  .markers = true,
                  .log_x = true,
                  .x_ticks = {64, 128, 256, 512, 1024}};
  chart.series.push_back({.name = "", .x = {128, 256, 512}, .y = {1, 2, 3}});
  EXPECT_THAT(texts(draw(chart)), IsSupersetOf({"128", "256", "512"}));
  EXPECT_THAT(texts(draw(chart)), Not(Contains("64")));
  EXPECT_THAT(texts(draw(chart)), Not(Contains("1024")));
  EXPECT_EQ(testing::all(testing::read_xml(draw(chart).svg), "circle").size(), 3u);
}

TEST(LineChart, RefusesWhatItCannotDraw) {
  LineChart chart{.title = "", .x_label = "", .y_label = "", .series = {}};
  EXPECT_THROW(draw(chart), Error);
  chart.series = {{.name = "", .x = {0, 1}, .y = {0}}};
  EXPECT_THROW(draw(chart), Error);
  chart.series = {{.name = "", .x = {0}, .y = {NAN}}};
  EXPECT_THROW(draw(chart), Error);
  chart.series = {{.name = "", .x = {0}, .y = {1e301}}};
  EXPECT_THROW(draw(chart), Error);
}

TEST(SinusoidPanels, AreTitledAsSinesAndCosines) {  // requirement A2
  const Tensor<double> table = testing::sinusoids(36, 100);
  const std::vector<std::string> shown =
      texts(draw(SinusoidPanels{.table = table,
                                .columns = {1, 2, 20, 21, 40, 41},
                                .words = testing::words(16),
                                .titles = {}}));
  EXPECT_THAT(shown, IsSupersetOf({"Cosine 0", "Sine 1", "Sine 10", "Cosine 10", "Sine 20",
                                   "Cosine 20", "Index (k)"}));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "couch"), 1) << "one legend, not six";
  EXPECT_GE(std::count(shown.begin(), shown.end(), "13"), 7) << "six panels and the legend";
}

TEST(SinusoidPanels, DrawTheLineThroughAllPositionsAndDiscsForWords) {
  const Tensor<double> table = testing::sinusoids(9, 4);
  const Picture picture = draw(SinusoidPanels{
      .table = table, .columns = {0}, .words = testing::words(3), .titles = {"One"}});
  EXPECT_THAT(texts(picture), Contains("One"));
  const testing::Element root = testing::read_xml(picture.svg);
  int discs = 0;
  for (const auto& circle : testing::all(root, "circle")) discs += !circle.children.empty();
  EXPECT_EQ(discs, 3);
  for (const auto& path : testing::all(root, "path")) {
    if (path.attributes.count("fill") == 0) continue;
    const std::string& d = path.attributes.at("d");
    EXPECT_EQ(std::count(d.begin(), d.end(), 'L'), 8);
  }
}

TEST(SinusoidPanels, RefuseWhatDoesNotFit) {
  const Tensor<double> table = testing::sinusoids(4, 4);
  const auto drawn = [&](std::vector<std::int64_t> columns, std::size_t words,
                         std::vector<std::string> titles) {
    return draw(SinusoidPanels{.table = table,
                               .columns = std::move(columns),
                               .words = testing::words(words),
                               .titles = std::move(titles)});
  };
  EXPECT_THROW(drawn({}, 0, {}), Error);
  EXPECT_THROW(drawn({4}, 0, {}), Error);
  EXPECT_THROW(drawn({-1}, 0, {}), Error);
  EXPECT_THROW(drawn({0}, 5, {}), Error);
  EXPECT_THROW(drawn({0}, 0, {"a", "b"}), Error);
}

TEST(RowPanels, CountPositionsFromTheFirst) {
  const Tensor<double> table = testing::sinusoids(11, 8);
  const RowPanels panels{.table = table, .rows = {0, 4, 10}, .first = 100};
  EXPECT_THAT(texts(draw(panels)),
              IsSupersetOf({"Position 100", "Position 104", "Position 110", "Dimension"}));
  EXPECT_EQ(testing::all(testing::read_xml(draw(panels).svg), "circle").size(), 24u);
}

TEST(RowPanels, RefuseRowsOutsideTheTable) {
  const Tensor<double> table = testing::sinusoids(3, 4);
  EXPECT_THROW(draw(RowPanels{.table = table, .rows = {3}}), Error);
  EXPECT_THROW(draw(RowPanels{.table = table, .rows = {}}), Error);
}

TEST(Heatmap, OfATableStaysSmall) {  // requirement A4
  const Tensor<double> table = testing::sinusoids(100, 512);
  Heatmap heatmap;
  heatmap.values = table;
  heatmap.map = ColorMap::diverging;
  heatmap.x_label = "Dimension";
  const Picture picture = draw(heatmap);
  EXPECT_LT(picture.svg.size(), 80000u);
  EXPECT_THAT(texts(picture), IsSupersetOf({"Dimension", "0", "500", "−1.0", "1.0"}));
}

TEST(Heatmap, OfALongTableIsAveragedAndSaysSo) {
  const Tensor<double> table = testing::sinusoids(4000, 3);
  Heatmap heatmap;
  heatmap.values = table;
  const Picture picture = draw(heatmap);
  EXPECT_LT(picture.height, 1400);
  EXPECT_THAT(texts(picture), Contains("Each pixel is the mean of 4 × 1 values."));
}

TEST(Heatmap, OfOneNumberHasRoomForItsNames) {
  const Tensor<double> one({1, 1});
  Heatmap map;
  map.values = one.view();
  map.title = "Sinusoidal positions, 1 x 1";
  map.x_label = "Dimension";
  map.y_label = "Position";
  const std::string svg = draw(map).svg;
  EXPECT_EQ(svg.find("…"), std::string::npos);  // nothing was shortened
  EXPECT_NE(svg.find(">Dimension<"), std::string::npos);
}

TEST(Heatmap, KeepsEveryColumnOfTheWidthsThatModelsHave) {
  const Tensor<double> wide({2, 4096});
  Heatmap map;
  map.values = wide.view();
  EXPECT_EQ(draw(map).svg.find("is the mean of"), std::string::npos);
}

TEST(Heatmap, DivergingColorsAreSymmetricAroundZero) {
  Tensor<double> table({1, 2});
  table(0, 0) = -1;
  table(0, 1) = 4;
  Heatmap heatmap;
  heatmap.values = table;
  heatmap.map = ColorMap::diverging;
  EXPECT_THAT(texts(draw(heatmap)), IsSupersetOf({"−4", "0", "4"}));
}

TEST(HeatmapPanels, ShareOneScaleAndAreEachAnImage) {
  Tensor<double> values({5, 4, 6});
  values(4, 3, 5) = -7;
  values(0, 0, 0) = -INFINITY;
  HeatmapPanels panels;
  panels.values = std::as_const(values).view();
  panels.titles = {"a", "b", "c", "d", "e"};
  panels.title = "T";
  panels.x_label = "X";
  panels.y_label = "Y";
  panels.color_label = "C";
  panels.first_column = -3;
  const Picture picture = draw(panels);
  const std::vector<std::string> shown = texts(picture);
  EXPECT_THAT(shown, IsSupersetOf({"T", "X", "Y", "C", "a", "e", "not finite"}));
  EXPECT_EQ(testing::all(testing::read_xml(picture.svg), "image").size(), 6u) << "with the bar";
  panels.map = ColorMap::diverging;
  EXPECT_THAT(texts(draw(panels)), Contains("0"));
}

TEST(HeatmapPanels, RefuseNothingAndTitlesThatDoNotFit) {
  HeatmapPanels panels;
  EXPECT_THROW(draw(panels), Error);
  const Tensor<double> values({2, 3, 3});
  panels.values = values.view();
  panels.titles = {"one"};
  EXPECT_THROW(draw(panels), Error);
  panels.titles = {"one", "two"};
  panels.low = 1;
  panels.high = 1;
  EXPECT_THROW(draw(panels), Error);
}

TEST(Heatmap, RefusesNothingAndAScaleUpsideDown) {
  Heatmap heatmap;
  EXPECT_THROW(draw(heatmap), Error);
  const Tensor<double> table = testing::sinusoids(2, 2);
  heatmap.values = table;
  heatmap.low = 1;
  heatmap.high = 0;
  EXPECT_THROW(draw(heatmap), Error);
}

}  // namespace
}  // namespace sextant
