// Matrices as PNG images, read back through libpng.
#include "pictures/png/pixels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "pictures/png_reader.h"

namespace sextant::pictures {
namespace {

using testing::read_png;

TEST(Pixels, EveryElementHasItsColor) {
  Tensor<double> matrix({2, 3});
  matrix(0, 1) = 0.5;
  matrix(0, 2) = 1;
  matrix(1, 0) = NAN;
  matrix(1, 1) = -INFINITY;
  matrix(1, 2) = 7;  // above the scale
  for (const bool hides : {false, true}) {
    const Scale scale{.low = 0, .high = 1, .map = ColorMap::viridis, .hides = hides};
    const auto image = read_png(matrix_png(matrix.view(), scale, 3, 2));
    ASSERT_EQ(image.width, 9u);
    ASSERT_EQ(image.height, 4u);
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 9; ++x) {
        EXPECT_EQ(hex(image.at(x, y)), hex(scale.color_of(matrix(y / 2, x / 3)))) << x << ", " << y;
      }
    }
    const std::string not_finite = hex(color(ColorMap::viridis, NAN));
    EXPECT_EQ(hex(image.at(0, 2)), not_finite);
    EXPECT_EQ(hex(image.at(3, 2)), hides ? hex(kHiddenColor) : not_finite);
  }
}

TEST(Pixels, ReadsViewsWithAnyStrides) {
  Tensor<double> matrix({2, 2});
  matrix(0, 1) = 1;
  const Scale scale;
  EXPECT_EQ(hex(read_png(matrix_png(matrix.view().transpose(0, 1), scale)).at(0, 1)), "#fde725");
}

TEST(Pixels, ExtentLeavesOutWhatIsNotFinite) {
  Tensor<double> matrix({1, 4});
  matrix(0, 0) = 3;
  matrix(0, 1) = -INFINITY;
  matrix(0, 2) = NAN;
  matrix(0, 3) = 5;
  const Extent extent = extent_of(matrix.view());
  EXPECT_EQ(extent.low, 3);
  EXPECT_EQ(extent.high, 5);
  EXPECT_TRUE(extent.has_minus_infinity);
  EXPECT_TRUE(extent.has_other);
  EXPECT_FALSE(extent_of(matrix.view().narrow(1, 0, 2)).has_other);
}

TEST(Pixels, AveragesBlocksWithAShorterLastOne) {
  Tensor<double> matrix({3, 5});
  for (std::int64_t i = 0; i < 15; ++i) matrix(i / 5, i % 5) = static_cast<double>(i);
  matrix(0, 0) = NAN;  // left out of its block's mean
  const Blocks blocks = average(matrix.view(), 2, 2);
  EXPECT_EQ(blocks.rows, 2);
  EXPECT_EQ(blocks.columns, 3);
  ASSERT_EQ(blocks.means.shape(), Shape({2, 2}));
  EXPECT_DOUBLE_EQ(blocks.means(0, 0), (1 + 2 + 5 + 6 + 7) / 5.0);
  EXPECT_DOUBLE_EQ(blocks.means(0, 1), (3 + 4 + 8 + 9) / 4.0);
  EXPECT_DOUBLE_EQ(blocks.means(1, 0), 11);
  EXPECT_DOUBLE_EQ(blocks.means(1, 1), 13.5);
}

TEST(Pixels, KeepsTheLargestOfABlock) {
  Tensor<double> matrix({3, 5});
  matrix(1, 2) = 0.25;
  matrix(0, 1) = -0.5;  // of a difference of weights
  matrix(2, 0) = matrix(2, 1) = matrix(2, 2) = -INFINITY;
  matrix(2, 4) = NAN;
  const Blocks blocks = largest(matrix.view(), 2, 2);
  EXPECT_EQ(blocks.rows, 2);
  EXPECT_EQ(blocks.columns, 3);
  EXPECT_EQ(blocks.means(0, 0), -0.5);
  EXPECT_EQ(blocks.means(0, 1), 0);
  EXPECT_EQ(blocks.means(1, 0), -INFINITY);
  EXPECT_EQ(blocks.means(1, 1), 0);
}

TEST(Pixels, ABlockOfNothingFiniteStaysEmpty) {
  Tensor<double> matrix({2, 2});
  for (int i = 0; i < 4; ++i) matrix(i / 2, i % 2) = NAN;
  EXPECT_TRUE(std::isnan(average(matrix.view(), 1, 1).means(0, 0)));
}

TEST(Pixels, ABlockIsHiddenOnlyWhereAllOfItIs) {
  Tensor<double> matrix({3, 2});
  for (int i = 0; i < 6; ++i) matrix(i / 2, i % 2) = -INFINITY;
  matrix(1, 1) = NAN;
  matrix(2, 0) = 5;
  const Blocks blocks = average(matrix.view(), 3, 1);
  EXPECT_EQ(blocks.means(0, 0), -INFINITY);
  EXPECT_TRUE(std::isnan(blocks.means(1, 0)));
  EXPECT_EQ(blocks.means(2, 0), 5);
}

}  // namespace
}  // namespace sextant::pictures
