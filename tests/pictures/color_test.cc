// Both colour scales.
#include "sextant/pictures/color.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

TEST(Color, ViridisHasItsEndsAndMiddle) {
  EXPECT_EQ(hex(color(ColorMap::viridis, 0)), "#440154");
  EXPECT_EQ(hex(color(ColorMap::viridis, 1)), "#fde725");
  EXPECT_EQ(hex(color(ColorMap::viridis, 85.0 / 255)), "#31688e");  // entry 85 of the table
}

TEST(Color, ViridisGrowsLighter) {
  // Uniform lightness is what the scale was made for; luma stands in for lightness here.
  double before = -1;
  for (int i = 0; i <= 255; ++i) {
    const Rgb c = color(ColorMap::viridis, i / 255.0);
    const double luma = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
    EXPECT_GE(luma, before - 0.5) << i;  // half a level of rounding
    before = luma;
  }
}

TEST(Color, DivergingIsBlueBelowWhiteAtZeroAndRedAbove) {
  const Rgb low = color(ColorMap::diverging, 0.2), high = color(ColorMap::diverging, 0.8);
  EXPECT_GT(low.b, low.r);
  EXPECT_GT(high.r, high.b);
  EXPECT_EQ(hex(color(ColorMap::diverging, 0.5)), "#f7f7f7");
}

TEST(Color, ClampsAndShowsNanAsGrey) {
  EXPECT_EQ(hex(color(ColorMap::viridis, -3)), hex(color(ColorMap::viridis, 0)));
  EXPECT_EQ(hex(color(ColorMap::viridis, INFINITY)), hex(color(ColorMap::viridis, 1)));
  const Rgb grey = color(ColorMap::viridis, NAN);
  EXPECT_EQ(grey.r, grey.g);
  EXPECT_EQ(grey.g, grey.b);
  EXPECT_NE(hex(grey), hex(kHiddenColor));
}

TEST(Color, SequentialGoesFromWhiteToDarkBlueEverDarker) {
  EXPECT_EQ(hex(color(ColorMap::sequential, 0)), "#ffffff");
  EXPECT_EQ(hex(color(ColorMap::sequential, 1)), "#08306b");
  double before = 22;
  for (int i = 0; i <= 100; ++i) {
    const Rgb c = color(ColorMap::sequential, i / 100.0);
    const double now = contrast(c, {0, 0, 0});
    EXPECT_LT(now, before) << i;
    EXPECT_GE(c.b, c.r) << i;
    before = now;
  }
}

TEST(Color, TextInBlackOrWhiteHasAContrastOfFourAndAHalfOnEveryColor) {
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21, 1e-12);
  EXPECT_NEAR(contrast({118, 118, 118}, {255, 255, 255}), 4.54, 0.005);  // WCAG 2's own example
  for (const ColorMap map : {ColorMap::viridis, ColorMap::diverging, ColorMap::sequential}) {
    for (int i = 0; i <= 1000; ++i) {
      const Rgb c = color(map, i / 1000.0);
      const Rgb text = is_dark(c) ? Rgb{255, 255, 255} : Rgb{0, 0, 0};
      EXPECT_GE(contrast(c, text), 4.5) << i;
    }
  }
}

TEST(Color, KnowsWhereWhiteTextIsReadable) {
  EXPECT_TRUE(is_dark({0, 0, 0}));
  EXPECT_TRUE(is_dark(color(ColorMap::viridis, 0)));
  EXPECT_FALSE(is_dark(color(ColorMap::viridis, 1)));
  EXPECT_FALSE(is_dark({255, 255, 255}));
}

}  // namespace
}  // namespace sextant
