// Figures of a table of positions: the numbers that they show, and what they refuse.
#include "sextant/figures/position_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/error_of.h"

namespace sextant::figures::position_figures_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PositionFigures, ColumnsAreRowsOfTheNumbers) {
  const PositionTable table = position_table({.length = 5, .width = 4});
  const Figure figure = plot_sinusoids(table, {3, 0}, {"a", "b"});
  ASSERT_EQ(figure.values.shape(), (Shape{2, 5}));
  EXPECT_EQ(figure.values(0, 4), table.values(4, 3));
  EXPECT_EQ(figure.values(1, 2), table.values(2, 0));
  EXPECT_EQ(figure.labels.row_label(0), "Cosine 1");
  EXPECT_EQ(figure.labels.row_label(1), "Sine 0");
  for (const char* shown : {">Cosine 1<", ">Sine 0<", ">Index (k)<", ">b<"}) {
    EXPECT_THAT(figure.picture.svg, HasSubstr(shown));
  }
}

TEST(PositionFigures, ASinusoidIsASmoothCurveThroughItsPoints) {
  Sinusoidal options{.length = 11, .width = 5, .first = 7, .scale = 3};
  PositionTable table = position_table(options);
  for (std::int64_t column = 0; column < 5; ++column) {
    const Series curve = column_curve(table, column, 8);
    ASSERT_EQ(curve.x.size(), 81U);
    for (std::size_t k = 0; k < 11; ++k) {
      EXPECT_EQ(curve.x[8 * k], static_cast<double>(k));
      EXPECT_NEAR(curve.y[8 * k], table.values(static_cast<std::int64_t>(k), column), 1e-14);
    }
  }
  EXPECT_NEAR(column_curve(table, 0, 8).y[4], 3 * std::sin(7.5), 1e-14);
  const auto lines = [&] {
    return std::ranges::count(plot_sinusoids(table, {0}).picture.svg, 'L');
  };
  const auto smooth = lines();
  table.options.reset();
  EXPECT_GT(smooth - lines(), 20) << "up to 80 lines, not 10";
  EXPECT_TRUE(column_curve(table, 0, 8).x.empty()) << "of a file nothing else is known";
}

TEST(PositionFigures, PositionsNearerThanPixelsAreJoinedByLines) {
  Sinusoidal options;
  options.length = 301;
  options.width = 4;
  EXPECT_LT(plot_sinusoids(position_table(options), {0}).picture.svg.size(), 20000U);
}

TEST(PositionFigures, RowsAreNamedByTheirPositions) {
  const PositionTable table = position_table({.length = 5, .width = 4, .first = -2});
  const Figure figure = plot_rows(table, {4, 1});
  ASSERT_EQ(figure.values.shape(), (Shape{2, 4}));
  EXPECT_EQ(figure.labels.row_label(0), "2");
  EXPECT_EQ(figure.labels.row_label(1), "-1");
  EXPECT_DOUBLE_EQ(figure.values(0, 0), std::sin(2.0));
  for (const char* shown : {">Position 2<", ">Position -1<", ">Dimension<"}) {
    EXPECT_THAT(figure.picture.svg, HasSubstr(shown));
  }
}

TEST(PositionFigures, TheSimilarityOfAPositionWithItselfIsOne) {
  const Figure figure = plot_similarity(position_table({.length = 6, .width = 8}));
  ASSERT_EQ(figure.values.shape(), (Shape{6, 6}));
  EXPECT_EQ(figure.values(3, 3), 1);
  EXPECT_EQ(figure.values(1, 4), figure.values(4, 1));
}

TEST(PositionFigures, MeansByDistanceAreOfAllPairs) {
  Tensor<double> table({3, 2});
  const double rows[] = {1, 0, 0, 2, 3, 0};
  std::copy_n(rows, 6, table.data());
  // Dot products: (1,0)(0,2) = 0, (0,2)(3,0) = 0, (1,0)(3,0) = 3; squares 1, 4 and 9.
  EXPECT_THAT(similarity_by_distance(std::as_const(table).view(), Measure::dot),
              ElementsAre(14.0 / 3, 0, 3));
  EXPECT_THAT(similarity_by_distance(std::as_const(table).view(), Measure::cosine),
              ElementsAre(1, 0, 1));
}

TEST(PositionFigures, HalvesOfATableHaveNames) {
  const auto groups_of = [](SinusoidalLayout layout, std::int64_t width) {
    Sinusoidal options{.length = 5, .width = width, .layout = layout};
    std::string text;
    for (const ColumnGroup& group : plot_heatmap(position_table(options)).labels.column_groups) {
      text +=
          group.name + " " + std::to_string(group.first) + "+" + std::to_string(group.count) + " ";
    }
    return text;
  };
  EXPECT_EQ(groups_of(SinusoidalLayout::half_split, 8), "sines 0+4 cosines 4+4 ");
  EXPECT_EQ(groups_of(SinusoidalLayout::half_split, 7), "sines 0+4 cosines 4+3 ");
  EXPECT_EQ(groups_of(SinusoidalLayout::cos_first, 8), "cosines 0+4 sines 4+4 ");
  EXPECT_EQ(groups_of(SinusoidalLayout::interleaved, 8), "");
}

TEST(PositionFigures, AnyAddedSchemeHasATable) {
  const PositionTable learned = position_table({"learned", {}, nullptr}, 9, 4);
  EXPECT_EQ(learned.values.shape(), (Shape{9, 4}));
  EXPECT_EQ(learned.name, "learned positions");
  EXPECT_THAT(error_of([] {
                position_table({"rotary", {}, nullptr}, 9, 4);
              }),
              HasSubstr("[figure.scheme] must be one that adds a table"));
}

TEST(PositionFigures, WhatIsNotThereIsRefused) {
  const PositionTable table = position_table({.length = 3, .width = 4});
  EXPECT_THAT(error_of([&] { plot_sinusoids(table, {4}); }),
              HasSubstr("[figure.columns] must be 0 .. 3, got 4"));
  EXPECT_THAT(error_of([&] {
                plot_sinusoids(table, {0}, {"a", "b", "c", "d"});
              }),
              HasSubstr("[figure.words] must be at most one per position (3), got 4"));
  EXPECT_THAT(error_of([&] { plot_rows(table, {-1}); }), HasSubstr("must be 0 .. 2, got -1"));
  EXPECT_THAT(error_of([&] { plot_rows(table, {}); }), HasSubstr("must name at least one"));
  const PositionTable one = position_table({.length = 1, .width = 4});
  EXPECT_THAT(error_of([&] { plot_distance(one); }), HasSubstr("at least 2"));
  const PositionTable longest = position_table({.length = 4097, .width = 2});
  EXPECT_THAT(error_of([&] { plot_similarity(longest); }), HasSubstr("1 .. 4096"));
}

}  // namespace
}  // namespace sextant::figures::position_figures_test
