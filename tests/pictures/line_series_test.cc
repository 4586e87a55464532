#include "pictures/lines/line_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/pictures/charts.h"
#include "support/error_of.h"

namespace sextant::pictures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Lines from (0, 0) to (10, end) in a panel of 100 x 100 pixels over 10 x 10.
const Panel kPanel{.left = 0, .top = 0, .width = 100, .height = 100, .x = {0, 10}, .y = {0, 10}};

Series line(std::string name, double end) {
  return {std::move(name), {0, 5, 10}, {0, end / 2, end}};
}

std::vector<std::string> names_of(const std::vector<DistinctSeries>& distinct) {
  std::vector<std::string> names;
  for (const auto& one : distinct) names.push_back(one.name);
  return names;
}

TEST(LineSeries, EqualToThePixelIsOneLineWithAllNames) {
  std::vector<LinePanel> panels = {
      {"", {line("a", 5), line("b", 9), line("c", 5.04), line("d", 5.1)}}};
  EXPECT_EQ(names_of(distinct_series(panels, kPanel)),
            (std::vector<std::string>{"a = c", "b", "d"}));
  keep(distinct_series(panels, kPanel), panels);
  ASSERT_EQ(panels[0].series.size(), 3U);
  EXPECT_EQ(panels[0].series[2].y[2], 5.1);
}

TEST(LineSeries, EqualInOnePanelAloneStaysTwoLines) {
  const std::vector<LinePanel> panels = {{"", {line("a", 5), line("b", 5)}},
                                         {"", {line("a", 5), line("b", 6)}}};
  EXPECT_EQ(distinct_series(panels, kPanel).size(), 2U);
}

TEST(LineSeries, AGapIsEqualToAGapOnly) {
  Series gap = line("b", 5), other = line("c", 5);
  gap.y[1] = other.y[1] = NAN;
  const std::vector<LinePanel> panels = {{"", {line("a", 5), gap, other}}};
  EXPECT_EQ(names_of(distinct_series(panels, kPanel)), (std::vector<std::string>{"a", "b = c"}));
}

TEST(LineSeries, WithAnotherBandIsAnotherLine) {
  Series narrow = line("a", 5), wide = line("b", 5), same = line("c", 5);
  narrow.low = same.low = {0, 2, 4};
  narrow.high = same.high = {0, 3, 6};
  wide.low = {0, 2, 4};
  wide.high = {0, 3, 7};
  const std::vector<LinePanel> panels = {{"", {narrow, wide, same, line("d", 5)}}};
  EXPECT_EQ(names_of(distinct_series(panels, kPanel)),
            (std::vector<std::string>{"a = c", "b", "d"}));
}

TEST(LineSeries, NamesStandApartWithinThePanelInTheOrderOfTheEnds) {
  const std::vector<EndName> names =
      end_names(kPanel, {line("low", 0), line("top", 10), line("middle", 0.1)});
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0].series, 1U);
  EXPECT_EQ(names[1].series, 2U);
  EXPECT_EQ(names[2].series, 0U);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_GE(names[i].text - names[i - 1].text, kTickSize);
  EXPECT_LE(names[2].text, kPanel.bottom());
  EXPECT_GE(names[0].text, kPanel.top);
}

TEST(LineSeries, WithoutRoomOrWithAnEarlyEndThereAreNoNames) {
  Series early = line("early", 3);
  early.x = {0, 2, 5};
  EXPECT_TRUE(end_names(kPanel, {line("a", 5), early}).empty());
  EXPECT_TRUE(end_names(kPanel, {line("a", 5), line("", 3)}).empty());
  EXPECT_TRUE(end_names(kPanel, std::vector<Series>(9, line("a", 5))).empty());
}

LinePanels chart_of(int lines) {
  LinePanels chart{.title = "Lines", .x_label = "x", .y_label = "y", .panels = {{}}};
  for (int i = 0; i < lines; ++i) {
    chart.panels[0].series.push_back(line("series " + std::to_string(i), 1 + i));
  }
  return chart;
}

TEST(LineSeries, MoreThanFiveHaveAPanelEachBeforeTheOthersInGrey) {
  const LinePanels spread = small_multiples(chart_of(6));
  ASSERT_EQ(spread.panels.size(), 6U);
  EXPECT_EQ(spread.panels[2].title, "series 2");
  EXPECT_EQ(spread.panels[2].behind.size(), 5U);
  EXPECT_TRUE(small_multiples(chart_of(12)).panels[2].behind.empty());
  const auto panels = [](const std::string& svg) {
    std::size_t count = 0;
    for (std::size_t at = svg.find(">x</text>"); at != std::string::npos;
         at = svg.find(">x</text>", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(panels(draw(chart_of(5)).svg), 1U);
  EXPECT_EQ(panels(draw(chart_of(6)).svg), 6U);
}

TEST(LineSeries, AChartNamesEqualLinesTogether) {
  LinePanels chart = chart_of(2);
  chart.panels[0].series.push_back(chart.panels[0].series[0]);
  chart.panels[0].series.back().name = "twin";
  EXPECT_THAT(draw(chart).svg, HasSubstr("series 0 = twin"));
  EXPECT_THAT(draw(chart_of(2)).svg, Not(HasSubstr(" = ")));
}

TEST(LineSeries, ABandIsWithinTheAxesAndNamedOnceInTheLegend) {
  LinePanels chart = chart_of(2);
  chart.panels[0].series[0].low = {0, 0, -40};
  chart.panels[0].series[0].high = {0, 1, 40};
  EXPECT_THAT(draw(chart).svg, HasSubstr("40</text>"));
  EXPECT_THAT(draw(chart_of(2)).svg, Not(HasSubstr("40</text>")));
  const auto count = [](const std::string& svg, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(what); at != svg.npos; at = svg.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(draw(chart).svg, "fill-opacity=\"0.2\""), 1U);
  chart.band = "scatter";
  EXPECT_EQ(count(draw(chart).svg, ">scatter</text>"), 1U);
  EXPECT_THAT(draw(chart).description, HasSubstr("; bands: scatter."));
  LinePanels many = chart_of(7);  // panels of their own
  for (Series& series : many.panels[0].series) series.low = series.high = series.y;
  many.band = "scatter";
  EXPECT_EQ(count(draw(many).svg, ">scatter</text>"), 1U);
  EXPECT_EQ(count(draw(many).svg, "fill-opacity=\"0.2\""), 7U) << "none behind";
}

TEST(LineSeries, BandsThatAreNoneAreRefused) {
  const auto refused = [](const std::vector<double>& low, const std::vector<double>& high,
                          bool log_y, const std::string& what) {
    LinePanels chart = chart_of(1);
    chart.panels[0].series[0].y = {1, 2, 3};
    chart.panels[0].series[0].low = low;
    chart.panels[0].series[0].high = high;
    chart.log_y = log_y;
    EXPECT_THAT(error_of([&] { draw(chart); }), HasSubstr(what));
  };
  refused({1, 2}, {1, 2}, false,
          "[line_panels.low] and high must be one per x or none, got 2 and 2");
  refused({1, 2, 3}, {}, false,
          "[line_panels.low] and high must be one per x or none, got 3 and 0");
  refused({}, {1, 2, 3}, false, "got 0 and 3");
  refused({0, 1, 2}, {1, 2, 3}, true, "[line_panels.low] must be positive");
  refused({1, 2, 3}, {1, -2, 3}, true, "[line_panels.high] must be positive");
}

}  // namespace
}  // namespace sextant::pictures
