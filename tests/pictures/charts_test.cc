// What lines, panels and heatmaps show and refuse.
#include "sextant/pictures/charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "pictures/png_reader.h"
#include "pictures/samples.h"
#include "pictures/svg_reader.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> texts_in(const Picture& picture) {
  std::vector<std::string> found;
  for (const auto& text : testing::all(testing::read_xml(picture.svg), "text")) {
    found.push_back(text.text);
  }
  return found;
}

TEST(LinePanels, NameTheirSeriesOnlyWhereThereAreSeveral) {
  LinePanels chart{.title = "T", .x_label = "X", .y_label = "Y", .panels = {{}}};
  chart.panels[0].series.push_back({.name = "first", .x = {0, 1}, .y = {0, 1}});
  EXPECT_THAT(texts_in(draw(chart)), IsSupersetOf({"T", "X", "Y"}));
  EXPECT_THAT(texts_in(draw(chart)), Not(Contains("first")));
  chart.panels[0].series.push_back({.name = "second", .x = {0, 1}, .y = {1, 0}});
  EXPECT_THAT(texts_in(draw(chart)), IsSupersetOf({"first", "second"}));
}

TEST(LinePanels, NumbersThatAreMissingBreakTheLine) {
  const LinePanels chart =
      testing::chart_of({{.name = "", .x = {0, 1, 2, 3, 4}, .y = {0, 1, NAN, 1, 0}}});
  std::string line;
  for (const auto& path : testing::all(testing::read_xml(draw(chart).svg), "path")) {
    if (path.attributes.count("fill") != 0) line = path.attributes.at("d");
  }
  EXPECT_EQ(std::count(line.begin(), line.end(), 'M'), 2);
  EXPECT_EQ(std::count(line.begin(), line.end(), 'L'), 2);
}

TEST(LinePanels, ASinglePointIsSeen) {
  const auto discs = [](std::vector<double> x) {
    LinePanels chart{.title = "t", .x_label = "x", .y_label = "y", .panels = {{}}};
    chart.panels[0].series = {{.name = "", .x = x, .y = std::vector<double>(x.size(), 1.0)}};
    const std::string svg = draw(chart).svg;
    std::size_t count = 0;
    for (auto at = svg.find("<circle"); at != svg.npos; at = svg.find("<circle", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(discs({3}), 1U);
  EXPECT_EQ(discs({3, 4}), 0U);
}

TEST(LinePanels, ManyPointsAreThinnedWithoutLosingAPeak) {
  std::vector<double> y;
  for (int i = 0; i < 200000; ++i) y.push_back(i == 123457 ? 50 : i % 2);
  const Picture picture = draw(testing::chart_of({counted("", std::move(y))}));
  EXPECT_LT(picture.svg.size(), 200000u);
  // The peak is the upper end of the y range before its margin of a twentieth on both sides: at
  // 0.05 / 1.1 of the panel's 300 pixels below its top, which is at 24.
  EXPECT_THAT(picture.svg, HasSubstr(" 37.64L"));
}

TEST(LinePanels, HavePowersOfTenOnLogarithmicAxes) {
  LinePanels chart = testing::chart_of({counted("", {10, 1, 100})});
  chart.log_y = true;
  std::string line;
  for (const auto& path : testing::all(testing::read_xml(draw(chart).svg), "path")) {
    if (path.attributes.count("fill") != 0) line = path.attributes.at("d");
  }
  // Equal factors are equal heights: the first point is in the middle between the others.
  std::vector<double> heights;
  for (std::size_t at = 0; (at = line.find(' ', at)) != std::string::npos;) {
    heights.push_back(std::strtod(line.c_str() + ++at, nullptr));
  }
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_NEAR(heights[1] - heights[0], heights[0] - heights[2], 0.2) << "two decimals each";
  EXPECT_THAT(texts_in(draw(chart)), IsSupersetOf({"1", "10", "100"}));
  double& middle = chart.panels[0].series[0].y[1];
  for (const double bad : {0.0, -1.0}) {
    middle = bad;
    EXPECT_THROW(draw(chart), Error);
  }
  middle = NAN;  // a gap, as ever
  EXPECT_NO_THROW(draw(chart));
}

TEST(LinePanels, HaveAsManyNumbersOnALogarithmicAxisAsFit) {
  for (const double most : {1.02, 1.5, 4.0, 30.0, 1e4, 1e12, 1e300}) {
    LinePanels chart = testing::chart_of({{.name = "", .x = {1, most}, .y = {1, most}}});
    chart.log_x = chart.log_y = true;
    const auto numbers = texts_in(draw(chart));
    EXPECT_GE(numbers.size(), 4u) << most;
    EXPECT_LE(numbers.size(), 40u) << most;
  }
}

TEST(LinePanels, PutNumbersWhereTheyAreTold) {
  LinePanels chart = testing::chart_of({{.name = "", .x = {128, 256, 512}, .y = {1, 2, 3}}});
  chart.markers = chart.log_x = true;
  chart.x_ticks = {64, 128, 256, 512, 1024};
  EXPECT_THAT(texts_in(draw(chart)), IsSupersetOf({"128", "256", "512"}));
  EXPECT_THAT(texts_in(draw(chart)), Not(Contains("64")));
  EXPECT_THAT(texts_in(draw(chart)), Not(Contains("1024")));
  EXPECT_EQ(testing::all(testing::read_xml(draw(chart).svg), "circle").size(), 3u);
}

TEST(LinePanels, RefuseWhatTheyCannotDraw) {
  EXPECT_THROW(draw(LinePanels{}), Error);
  EXPECT_THROW(draw(testing::chart_of({})), Error);
  EXPECT_THROW(draw(testing::chart_of({{.name = "", .x = {0, 1}, .y = {0}}})), Error);
  EXPECT_THROW(draw(testing::chart_of({{.name = "", .x = {0}, .y = {NAN}}})), Error);
  EXPECT_THROW(draw(testing::chart_of({{.name = "", .x = {0}, .y = {1e301}}})), Error);
  LinePanels chart = testing::chart_of({counted("a", {1, 2})});
  chart.point_labels = testing::words(3);
  EXPECT_THROW(draw(chart), Error) << "a label without a point";
  chart.point_labels = {};
  chart.panels.push_back({"two", {counted("a", {1}), counted("b", {2})}});
  EXPECT_THROW(draw(chart), Error) << "another number of series";
  chart = testing::chart_of({counted("a", {1, 2})});
  for (const double side : {0.0, -300.0, 1e9, static_cast<double>(NAN)}) {
    chart.panel_width = side;
    EXPECT_THROW(draw(chart), Error) << side;
  }
}

TEST(LinePanels, SeveralShareAxesAndOneLegend) {
  LinePanels chart = testing::chart_of({counted("a", {0, 1}), counted("b", {1, 0})});
  chart.panels.push_back({"second", {counted("a", {-4, 4}), counted("b", {4, -4})}});
  chart.y_label = "Y";
  chart.panel_width = 300;
  const std::vector<std::string> shown = texts_in(draw(chart));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "a"), 1);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "Y"), 1) << "beside the first";
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "−4"), 1) << "the second's range, once";
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "1.0"), 2) << "the x axis of each";
  chart.panel_width = 640;  // below one another: each has its y axis
  const std::vector<std::string> stacked = texts_in(draw(chart));
  EXPECT_EQ(std::count(stacked.begin(), stacked.end(), "−4"), 2);
}

TEST(LinePanels, NamePointsInPlace) {
  const Tensor<double> table = testing::sinusoids(36, 100);
  const std::vector<std::string> shown =
      texts_in(draw(testing::panels_of(table, 1, {1, 2, 20, 21, 40, 41}, testing::words(16))));
  EXPECT_THAT(shown, IsSupersetOf({"Line 1", "Line 41", "Index (k)"}));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "couch"), 6) << "one per panel, no legend";
}

TEST(LinePanels, NameFewPointsLevelAndManyUpright) {
  const auto upright = [](std::size_t words, std::int64_t column) {
    const Tensor<double> table = testing::sinusoids(60, 100);
    const Picture picture = draw(testing::panels_of(table, 1, {column}, testing::words(words)));
    int count = 0;
    for (const auto& text : testing::all(testing::read_xml(picture.svg), "text")) {
      count += text.attributes.contains("transform") ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(upright(3, 0), 0);
  EXPECT_EQ(upright(3, 40), 0);
  EXPECT_EQ(upright(50, 40), 50) << "level, words of a flat curve would cover each other";
}

TEST(LinePanels, DrawACurveBetweenPoints) {
  LinePanels chart = testing::chart_of({counted("", {0, 1})});
  chart.panels[0].curve = {.name = "", .x = {0, 0.5, 1}, .y = {0, 3, 1}};
  std::string line;
  for (const auto& path : testing::all(testing::read_xml(draw(chart).svg), "path")) {
    if (path.attributes.count("fill") != 0) line = path.attributes.at("d");
  }
  EXPECT_EQ(std::count(line.begin(), line.end(), 'L'), 2);
  EXPECT_THAT(texts_in(draw(chart)), Contains("3.0")) << "the axis has room for it";
  chart.panels[0].curve.y.pop_back();
  EXPECT_THROW(draw(chart), Error);
}

TEST(LinePanels, HaveRoomForGreyLines) {
  LinePanels chart = testing::chart_of({counted("", {0, 1})});
  chart.panels[0].behind = {{.name = "", .x = {0, 4}, .y = {NAN, 1}},
                            {.name = "", .x = {0, 4}, .y = {-3, 1}}};
  EXPECT_THAT(texts_in(draw(chart)), IsSupersetOf({"4.0", "\u22123.0"}));
}

TEST(LinePanels, DrawTheLineThroughAllPointsAndDiscsForTheLabelled) {
  const Tensor<double> table = testing::sinusoids(9, 4);
  const Picture picture = draw(testing::panels_of(table, 1, {0}, testing::words(3)));
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

TEST(LinePanels, GrowUntilWordsStandApartThenNumberPoints) {
  const auto width = [](std::int64_t points) {
    const Tensor<double> table = testing::sinusoids(points, 2);
    const Picture picture =
        draw(testing::panels_of(table, 1, {0}, testing::words(static_cast<std::size_t>(points))));
    const auto shown = texts_in(picture);
    // 17 is odd, and no number of an axis: in the legend of points that have numbers.
    EXPECT_EQ(std::count(shown.begin(), shown.end(), "17"), points < 100 ? 0 : 1) << points;
    return picture.width;
  };
  EXPECT_LT(width(20), 400);
  EXPECT_GT(width(60), 59 * 12);
  EXPECT_LT(width(600), 2500);
}

TEST(OneHeatmap, OfATableStaysSmall) {
  const Tensor<double> table = testing::sinusoids(100, 512);
  HeatmapPanels heatmap{.values = table, .x_label = "Dimension", .map = ColorMap::diverging};
  const Picture picture = draw(heatmap);
  EXPECT_LT(picture.svg.size(), 80000u);
  EXPECT_THAT(texts_in(picture), IsSupersetOf({"Dimension", "0", "500", "−1.0", "1.0"}));
}

TEST(OneHeatmap, OfALongTableIsAveragedAndSaysSo) {
  const Tensor<double> table = testing::sinusoids(4000, 3);
  HeatmapPanels heatmap;
  heatmap.values = table;
  const Picture picture = draw(heatmap);
  EXPECT_LT(picture.height, 1000);
  EXPECT_THAT(texts_in(picture), Contains("Each pixel is the mean of 5 × 1 values"));
}

TEST(OneHeatmap, OfOneNumberHasRoomForItsNames) {
  const Tensor<double> one({1, 1});
  HeatmapPanels map;
  map.values = one.view();
  map.title = "Sinusoidal positions, 1 x 1";
  map.x_label = "Dimension";
  map.y_label = "Position";
  const std::string svg = draw(map).svg;
  EXPECT_EQ(svg.find("…"), std::string::npos);  // nothing was shortened
  EXPECT_NE(svg.find(">Dimension<"), std::string::npos);
}

// Rows and columns of the matrix's image, in CSS pixels.
testing::Element image_of(const Picture& picture) {
  return testing::all(testing::read_xml(picture.svg), "image").at(0);
}

TEST(OneHeatmap, HasCellsOfWholePixelsAndBlocksOfWholeCells) {
  for (const std::int64_t columns : {3, 7, 100, 512, 700, 768, 1024, 4096, 12345}) {
    for (const double width : {280.0, 350.0, 950.0}) {
      const Tensor<double> table = testing::sinusoids(100, columns);
      HeatmapPanels map{.values = table, .x_label = "Dimension", .y_label = "Position"};
      map.max_width = width;
      const Picture picture = draw(map);
      EXPECT_LE(picture.width, width) << columns;
      const testing::Element image = image_of(picture);
      const double pixels = image.number("width");
      const double block = std::ceil(static_cast<double>(columns) / pixels);
      const double cell = pixels / std::ceil(static_cast<double>(columns) / block);
      EXPECT_EQ(cell, std::round(cell)) << columns << " in " << width;
      for (const char* place : {"x", "y", "width", "height"}) {
        EXPECT_EQ(image.number(place), std::round(image.number(place))) << place;
      }
      const bool noted = picture.svg.find("Each pixel is the mean of") != std::string::npos;
      EXPECT_EQ(noted, block > 1) << columns << " in " << width;
    }
  }
}

TEST(OneHeatmap, OfATableHasOnlyColorsOfItsScaleInAFile) {
  // 100 x 512, interleaved: neighbours are a sine and a cosine, dark blue beside dark red.
  const Tensor<double> table = testing::sinusoids(100, 512);
  HeatmapPanels map;
  map.values = table;
  map.map = ColorMap::diverging;
  const Picture picture = draw(map);
  const testing::Element image = image_of(picture);
  const testing::Pixels file = testing::read_png(render_png(picture));
  std::set<std::string> scale;
  for (int i = 0; i <= 10000; ++i) scale.insert(hex(color(ColorMap::diverging, i / 10000.0)));
  const auto at = [&](const char* side) {
    return static_cast<std::size_t>(2 * image.number(side));
  };
  int others = 0;
  for (std::size_t y = 0; y < at("height"); ++y) {
    for (std::size_t x = 0; x < at("width"); ++x) {
      others += scale.count(hex(file.at(at("x") + x, at("y") + y))) == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(others, 0);
}

TEST(HeatmapPanels, FitTheWidthTheyAreTold) {
  const Tensor<double> values({4, 15, 15});
  for (const double width : {280.0, 350.0, 500.0, 950.0}) {
    HeatmapPanels panels;
    panels.values = values.view();
    panels.titles = {"no positions", "sinusoidal", "rotary", "ALiBi"};
    panels.x_label = "Key";
    panels.y_label = "Query";
    panels.color_label = "Weight";
    panels.row_labels = panels.column_labels = testing::words(15);
    panels.max_width = width;
    EXPECT_LE(draw(panels).width, width);
  }
  HeatmapPanels narrow{.values = values.view(), .titles = {"a", "b", "c", "d"}, .max_width = 279};
  EXPECT_THROW(draw(narrow), Error);
}

TEST(HeatmapPanels, NameGroupsOfTheirColumns) {
  const Tensor<double> table = testing::sinusoids(10, 64);
  HeatmapPanels map;
  map.values = table;
  map.column_groups = {{"sines", 0, 32}, {"cosines", 32, 32}};
  const testing::Element root = testing::read_xml(draw(map).svg);
  const double left = image_of(draw(map)).number("x"), width = image_of(draw(map)).number("width");
  for (const auto& text : testing::all(root, "text")) {
    const bool sines = text.text == "sines";
    if (!sines && text.text != "cosines") continue;
    EXPECT_NEAR(text.number("x"), left + width * (sines ? 0.25 : 0.75), 0.01);
  }
  EXPECT_THAT(texts_in(draw(map)), IsSupersetOf({"sines", "cosines"}));
  for (const ColumnGroup& bad : {ColumnGroup{"x", 33, 32}, {"x", -1, 2}, {"x", 0, 0}}) {
    map.column_groups = {bad};
    EXPECT_THROW(draw(map), Error) << bad.first;
  }
}

TEST(OneHeatmap, DivergingColorsAreSymmetricAroundZero) {
  Tensor<double> table({1, 2});
  table(0, 0) = -1;
  table(0, 1) = 4;
  HeatmapPanels heatmap;
  heatmap.values = table;
  heatmap.map = ColorMap::diverging;
  EXPECT_THAT(texts_in(draw(heatmap)), IsSupersetOf({"−4", "0", "4"}));
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
  const std::vector<std::string> shown = texts_in(picture);
  EXPECT_THAT(shown, IsSupersetOf({"T", "X", "Y", "C", "a", "e", "not finite", "−6"}));
  EXPECT_EQ(testing::all(testing::read_xml(picture.svg), "image").size(), 6u) << "with the bar";
  panels.map = ColorMap::diverging;
  EXPECT_THAT(texts_in(draw(panels)), Contains("0"));
}

TEST(HeatmapPanels, SayOfLargeMatricesWhatAPixelIs) {
  const Tensor<double> values({2, 700, 2});
  HeatmapPanels panels;
  panels.values = values.view();
  panels.titles = {"a", "b"};
  EXPECT_THAT(texts_in(draw(panels)), Contains("Each pixel is the mean of 3 × 1 values"));
}

TEST(HeatmapPanels, AMatrixIsOnePanel) {
  const Tensor<double> values = testing::sinusoids(4, 6);
  HeatmapPanels one, panels;
  one.values = values.view();
  panels.values = View<const double>(values.data(), {1, 4, 6});
  EXPECT_EQ(draw(one).svg, draw(panels).svg);
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

TEST(OneHeatmap, RefusesNothingAndAScaleUpsideDown) {
  HeatmapPanels heatmap;
  EXPECT_THROW(draw(heatmap), Error);
  const Tensor<double> table = testing::sinusoids(2, 2);
  heatmap.values = table;
  heatmap.low = 1;
  heatmap.high = 0;
  EXPECT_THROW(draw(heatmap), Error);
}

TEST(HeatmapPanels, RowsAndColumnsMayHaveWords) {
  const Tensor<double> table = testing::sinusoids(2, 3);
  HeatmapPanels map;
  map.values = table;
  map.row_labels = {"Ann", std::string(60, 'w')};
  map.column_labels = {"action", "<war>", "▁x"};
  const std::string svg = draw(map).svg;
  for (const char* label : {">Ann</text>", ">action</text>", "&lt;war&gt;</text>", ">·x", "…"}) {
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  }
  EXPECT_EQ(svg.find(">0</text>"), std::string::npos);  // no numbers beside the words
  map.column_labels.pop_back();
  EXPECT_THROW(draw(map), Error);
  map.column_labels.clear();
  EXPECT_NE(draw(map).svg.find(">2</text>"), std::string::npos);
}

}  // namespace
}  // namespace sextant
