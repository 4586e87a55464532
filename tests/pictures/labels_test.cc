// Every picture at many sizes: well-formed, nothing from outside, no label over another or cut by
// the edge.
#include <gtest/gtest.h>

#include <sstream>

#include "pictures/samples.h"
#include "pictures/svg_reader.h"
#include "sextant/pictures/charts.h"

namespace sextant {
namespace {

using testing::Element;
using testing::LabelBox;

// A style sheet must not change the rest of the page, nor what is printed.
void expect_only_dark_pictures(const std::string& style) {
  std::istringstream lines(style);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "@media screen and (prefers-color-scheme:dark){");
  while (std::getline(lines, line) && line != "}") {
    EXPECT_TRUE(line.starts_with("svg[role=img] [") && line.ends_with("}")) << line;
  }
  EXPECT_EQ(line, "}");
  EXPECT_FALSE(std::getline(lines, line));
}

void expect_clean(const Picture& picture, const std::string& what) {
  SCOPED_TRACE(what);
  Element root;
  ASSERT_NO_THROW(root = testing::read_xml(picture.svg));
  EXPECT_EQ(root.name, "svg");
  EXPECT_NEAR(root.number("width"), picture.width, 0.005);  // two decimals are printed
  EXPECT_NEAR(root.number("height"), picture.height, 0.005);

  testing::for_each(root, [&](const Element& element) {
    if (element.name != "title" && element.name != "desc") {
      EXPECT_EQ(element.attributes.count("id"), 0u) << "ids of two pictures in a page would clash";
    }
    if (element.name == "style") expect_only_dark_pictures(element.text);
    EXPECT_NE(element.name, "script");
    for (const auto& [name, value] : element.attributes) {
      EXPECT_EQ(value.find("url("), std::string::npos);
      if (name == "href") {
        EXPECT_TRUE(value.starts_with("data:image/png;base64,")) << value.substr(0, 40);
      } else {
        EXPECT_EQ(value.find("nan"), std::string::npos) << name << "=" << value;
        EXPECT_EQ(value.find("inf"), std::string::npos) << name << "=" << value;
      }
    }
  });

  EXPECT_NE(picture.description, "");
  const std::vector<Element> said = testing::all(root, "desc");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(root.attributes.at("aria-labelledby").ends_with(said[0].attributes.at("id")));
  EXPECT_EQ(root.attributes.at("role"), "img");

  const std::vector<LabelBox> boxes = testing::label_boxes(root);
  for (const LabelBox& box : boxes) {
    EXPECT_NE(box.text, "");
    for (const auto& corner : box.corners) {
      EXPECT_GE(corner[0], 0) << box.text;
      EXPECT_GE(corner[1], 0) << box.text;
      EXPECT_LE(corner[0], picture.width) << box.text;
      EXPECT_LE(corner[1], picture.height) << box.text;
    }
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      EXPECT_FALSE(testing::overlap(boxes[i], boxes[j]))
          << "'" << boxes[i].text << "' and '" << boxes[j].text << "'";
    }
  }
}

struct Case {
  std::int64_t tokens;
  bool hard;
};

class EveryPicture : public ::testing::TestWithParam<Case> {
 protected:
  std::vector<std::string> words() const {
    const auto count = static_cast<std::size_t>(GetParam().tokens);
    return GetParam().hard ? testing::hard_words(count) : testing::words(count);
  }
};

TEST_P(EveryPicture, AttentionMapHasClearLabels) {
  const std::int64_t n = GetParam().tokens;
  const Tensor<double> weights = testing::weights(1, n, n);
  AttentionMaps map{.weights = weights,
                    .queries = words(),
                    .keys = words(),
                    .title = "Attention with positions · Head 3"};
  expect_clean(draw(map), "square");
  const Tensor<double> wide = testing::weights(1, 3, n);
  map.weights = wide.view().select(0, 0);
  map.queries = testing::words(3);
  expect_clean(draw(map), "wide");
  map.weights = wide.view().select(0, 0).transpose(0, 1);
  std::swap(map.queries, map.keys);
  expect_clean(draw(map), "tall");
}

TEST_P(EveryPicture, AttentionMapsHaveClearLabels) {
  const std::int64_t n = GetParam().tokens;
  for (const std::int64_t heads : {1, 2, 5, 12}) {
    const Tensor<double> weights = testing::weights(heads, n, n);
    expect_clean(draw(AttentionMaps{
                     .weights = weights, .queries = words(), .keys = words(), .title = "All"}),
                 std::to_string(heads) + " heads");
  }
}

TEST_P(EveryPicture, AttentionLinesHaveClearLabels) {
  const std::int64_t n = GetParam().tokens;
  for (const std::int64_t heads : {1, 4, 12}) {
    const Tensor<double> weights = testing::weights(heads, n, n);
    expect_clean(draw(AttentionLines{
                     .weights = weights, .queries = words(), .keys = words(), .title = "Lines"}),
                 std::to_string(heads) + " heads");
  }
}

TEST_P(EveryPicture, LabelledPointsHaveClearLabels) {
  const std::int64_t n = GetParam().tokens;
  for (const std::int64_t more : {0, 20}) {
    const Tensor<double> table = testing::sinusoids(n + more, 100);
    expect_clean(draw(testing::panels_of(table, 1, {1, 2, 20, 21, 40, 41}, words())),
                 std::to_string(more) + " more positions");
  }
}

TEST_P(EveryPicture, SeriesNamesHaveClearLabels) {
  LinePanels chart{
      .title = "Similarity", .x_label = "Distance", .y_label = "Cosine", .panels = {{}}};
  auto& series = chart.panels[0].series;
  for (const std::string& word : words()) {
    const auto i = static_cast<double>(series.size());
    series.push_back({.name = word, .x = {0, 1, 2}, .y = {i, i * 1e-3, -1e4}});
  }
  expect_clean(draw(chart), "lines");
  chart.panels.assign(5, {"A panel with a title that is much longer than it is wide, so it is cut",
                          chart.panels[0].series});
  chart.panel_width = 200;
  expect_clean(draw(chart), "five panels");
  chart.points = true;
  expect_clean(draw(chart), "points");
}

INSTANTIATE_TEST_SUITE_P(Tokens, EveryPicture,
                         ::testing::Values(Case{1, false}, Case{2, false}, Case{5, false},
                                           Case{12, false}, Case{16, false}, Case{16, true},
                                           Case{36, true}, Case{60, false}, Case{200, false}),
                         [](const auto& test) {
                           return std::to_string(test.param.tokens) +
                                  (test.param.hard ? "HardTokens" : "Words");
                         });

TEST(Pictures, PanelsOfHeatmapsHaveClearLabels) {
  for (const std::int64_t count : {1, 2, 8, 15}) {
    for (const std::int64_t rows : {1, 7, 60, 400}) {
      for (const std::int64_t columns : {1, 60}) {
        const Tensor<double> values({count, rows, columns});
        HeatmapPanels panels{.values = values.view(),
                             .title = "One head of every scheme of a kind",
                             .x_label = "Distance (key - query)",
                             .y_label = "Query",
                             .color_label = "Bias"};
        for (std::int64_t i = 0; i < count; ++i) {
          panels.titles.push_back("rotary_proportional " + std::to_string(i));
        }
        expect_clean(draw(panels), std::to_string(count) + " x " + std::to_string(rows));
      }
    }
  }
}

TEST(Pictures, HeatmapsOfAnyShapeHaveClearLabels) {
  const std::vector<std::array<std::int64_t, 2>> shapes = {
      {1, 1}, {1, 50}, {50, 1}, {3, 3}, {4, 700}, {700, 4}, {100, 512}, {1281, 1281}, {9000, 2}};
  for (const auto& [rows, columns] : shapes) {
    const Tensor<double> table = testing::sinusoids(rows, columns);
    for (const double first : {0.0, 1e6, 2147483000.0}) {
      expect_clean(draw(HeatmapPanels{.values = table,
                                      .title = "A table with a title of some length",
                                      .x_label = "Dimension",
                                      .y_label = "Position",
                                      .color_label = "Value",
                                      .low = {},
                                      .high = {},
                                      .map = ColorMap::diverging,
                                      .first_row = first,
                                      .first_column = first}),
                   std::to_string(rows) + " x " + std::to_string(columns));
    }
  }
}

TEST(Pictures, PanelsOfAnyLengthHaveClearLabels) {
  for (const std::int64_t width : {1, 2, 16, 512}) {
    const Tensor<double> table = testing::sinusoids(12, width);
    LinePanels chart = testing::panels_of(table, 0, {0, 4, 10, 11});
    expect_clean(draw(chart), std::to_string(width) + ", lines");
    chart.points = true;
    expect_clean(draw(chart), std::to_string(width) + ", points");
  }
}

TEST(Pictures, AxesOfAnyRangeHaveClearLabels) {
  const std::vector<std::array<double, 2>> ranges = {{0, 0},
                                                     {5, 5},
                                                     {0, 1},
                                                     {-1e-9, 1e-9},
                                                     {1e9, 1e9 + 1},
                                                     {-1e300, 1e300},
                                                     {0, 131072},
                                                     {1e-300, 2e-300},
                                                     {0.1, 0.3},
                                                     {-7, 1e7},
                                                     {123456789, 987654321}};
  for (const auto& a : ranges) {
    for (const auto& b : ranges) {
      expect_clean(draw(LinePanels{
                       .title = "Range",
                       .x_label = "x",
                       .y_label = "y",
                       .panels = {{"", {{.name = "one", .x = {a[0], a[1]}, .y = {b[0], b[1]}}}}}}),
                   std::to_string(a[0]) + " .. " + std::to_string(a[1]) + ", " +
                       std::to_string(b[0]) + " .. " + std::to_string(b[1]));
    }
  }
}

}  // namespace
}  // namespace sextant
