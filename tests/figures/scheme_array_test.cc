// The table of any scheme as one array: shapes, what the numbers are, and what has none.
#include "sextant/figures/scheme_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <variant>

#include "support/error_of.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;

struct Request : SchemeRequest {
  explicit Request(std::int64_t length) : ids(static_cast<std::size_t>(length)) {
    std::iota(ids.begin(), ids.end(), 0);
    positions = ids;
    width = 8;
    heads = 2;
    head_dim = 8;
  }
  std::vector<std::int64_t> ids;
};

std::string refusal_of(std::string_view scheme) {
  return error_of([&] { scheme_array(find_scheme(scheme), Request(3)); });
}

TEST(SchemeArray, ARotationIsCosinesAndSinesOfEachPair) {
  const SchemeArray array = scheme_array(find_scheme("rotary"), Request(3));
  EXPECT_EQ(array.values.shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(array.rows.shape(), (Shape{3, 8}));
  EXPECT_DOUBLE_EQ(array.values(2, 0, 0), std::cos(2.0));
  EXPECT_DOUBLE_EQ(array.values(2, 0, 1), std::sin(2.0));
  EXPECT_EQ(array.rows(2, 0), array.values(2, 0, 0));  // all cosines, then all sines
  EXPECT_EQ(array.rows(2, 4), array.values(2, 0, 1));
}

TEST(SchemeArray, ADistanceBiasGoesByKeyMinusQuery) {
  const SchemeArray array = scheme_array(find_scheme("alibi"), Request(3));
  EXPECT_EQ(array.values.shape(), (Shape{2, 5}));
  EXPECT_EQ(array.labels.first_column, -2);
  EXPECT_EQ(array.values(0, 2), 0);                              // at distance 0
  EXPECT_EQ(array.values(0, 0), 2 * array.values(0, 1));         // linear to the left
  EXPECT_EQ(array.values(1, 1) / array.values(0, 1), 1.0 / 16);  // slopes 2^-4 and 2^-8
  Request left(3);
  left.parameters = {{"left", "1"}, {"right", "0"}};
  const SchemeArray window = scheme_array(find_scheme("window"), left);
  const double hidden = -std::numeric_limits<double>::infinity();
  const double expected[] = {hidden, 0, 0, hidden, hidden};  // keys at -2 .. 2
  for (int i = 0; i < 5; ++i) EXPECT_EQ(window.values(1, i), expected[i]) << i;
}

TEST(SchemeArray, AnIndexedBiasHasItsHeadsBelowOneAnother) {
  const SchemeArray array = scheme_array(find_scheme("fire"), Request(3));
  EXPECT_EQ(array.values.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(array.rows.shape(), (Shape{6, 3}));
  EXPECT_EQ(array.rows_per_head, 3);
  EXPECT_EQ(array.labels.row_label(4), "1:1");
  EXPECT_EQ(array.rows(4, 2), array.values(1, 1, 2));
}

TEST(SchemeArray, TheFactorScalesNumbersAndColours) {
  const SchemeArray plain = scheme_array(find_scheme("rotary"), Request(3));
  const SchemeArray scaled = scheme_array(find_scheme("rotary"), Request(3), {.factor = 3});
  EXPECT_EQ(scaled.values(1, 1, 1), 3 * plain.values(1, 1, 1));
  EXPECT_EQ(scaled.rows(1, 5), 3 * plain.rows(1, 5));
  EXPECT_EQ(scaled.labels.high, 3 * *plain.labels.high);
}

TEST(SchemeArray, BiasesOfOneSignAreMagnitudes) {
  const SchemeArray alibi = scheme_array(find_scheme("alibi"), Request(3));
  EXPECT_EQ(alibi.labels.map, ColorMap::viridis);
  const SchemeArray rotary = scheme_array(find_scheme("rotary"), Request(3));
  EXPECT_EQ(rotary.labels.map, ColorMap::diverging);
  EXPECT_EQ(*rotary.labels.low, -*rotary.labels.high);
}

TEST(SchemeArray, KeysHaveATableOfTheirOwnWhereItDiffers) {
  const SchemeArray q = scheme_array(find_scheme("xpos"), Request(3));
  const SchemeArray k = scheme_array(find_scheme("xpos"), Request(3), {.side = Side::keys});
  EXPECT_NE(q.values(2, 3, 0), k.values(2, 3, 0));
}

TEST(SchemeArray, OfTablesThatAreThereAlready) {
  DistanceBias bias{.values = Tensor<float>({2, 5}), .origin = 2, .slopes = {0.5, 0.25}};
  bias.values(1, 4) = 3;
  const SchemeArray both = array_of(bias, 2, 3);
  EXPECT_EQ(both.values.shape(), (Shape{2, 5}));
  EXPECT_EQ(both.values(1, 4), 3 - 0.25 * 2);  // distance 2, after the slope
  EXPECT_EQ(both.values(0, 1), -0.5);
  EXPECT_EQ(both.labels.first_column, -2);
  bias.values = {};
  EXPECT_EQ(array_of(bias, 2, 9).values(0, 0), -0.5 * 8);  // slopes have every distance

  const auto message = [&](std::int64_t heads, std::int64_t length) -> std::string {
    return error_of([&] {
      array_of(DistanceBias{.values = Tensor<float>({2, 5}), .origin = 2}, heads, length);
    });
  };
  EXPECT_EQ(message(2, 3), "no error");
  EXPECT_THAT(message(2, 4), HasSubstr("[figure.length] must have a bias for each distance -3"));
  EXPECT_THAT(message(3, 3), HasSubstr("[figure.heads] must be at most 2, got 3"));

  const auto made = scheme_array(find_scheme("rotary"), Request(3));
  const auto rotation = std::get<RotationTable<double>>(find_scheme("rotary").make(Request(3)));
  const auto same = array_of(rotation);
  EXPECT_TRUE(std::ranges::equal(same.values.span(), made.values.span()));
}

TEST(SchemeArray, WhatHasNoTableIsRefused) {
  EXPECT_THAT(refusal_of("none"), HasSubstr("[figure.scheme]"));
  EXPECT_THAT(refusal_of("none"), HasSubstr("which adds nothing"));
  EXPECT_THAT(refusal_of("cope"), HasSubstr("depend on q and k as well"));
}

TEST(SchemeArray, TheFigureOfAnyScheme) {
  const Figure alibi = plot_scheme({"alibi", {}, nullptr}, {.length = 4, .first = 7, .heads = 2});
  EXPECT_EQ(alibi.labels.title, "ALiBi positions");
  EXPECT_EQ(alibi.values.shape(), (Shape{2, 7}));
  EXPECT_EQ(alibi.labels.first_row, 0);  // rows are heads
  const Figure rotary = plot_scheme({"rotary", {}, nullptr}, {.length = 4, .first = 7});
  EXPECT_EQ(rotary.labels.first_row, 7);
  EXPECT_DOUBLE_EQ(rotary.values(0, 0), std::cos(7.0));
  const Figure swin = plot_scheme({"fire", {}, nullptr}, {.length = 4, .heads = 9});
  EXPECT_THAT(swin.picture.svg, HasSubstr("Head 7"));
  EXPECT_THAT(swin.picture.svg, ::testing::Not(HasSubstr("Head 8")));  // 8 maps at most
}

}  // namespace
}  // namespace sextant::figures
