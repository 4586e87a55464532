// The least grids that hold cells.
#include "schemes/ids/grid.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Grid, SidesAreTheLeastThatHoldAllCells) {
  for (const int dimensions : {1, 2, 3}) {
    const auto power = [&](std::int64_t side) {
      std::int64_t cells = 1;
      for (int i = 0; i < dimensions; ++i) cells *= side;
      return cells;
    };
    for (const std::int64_t side : {1, 2, 3, 4, 5, 10, 63, 64, 125, 1000, 1 << 17}) {
      EXPECT_EQ(min_side(power(side), dimensions), side);
      EXPECT_EQ(min_side(power(side) + 1, dimensions), side + 1);
    }
    EXPECT_EQ(min_side(0, dimensions), 1);
  }
  EXPECT_EQ(min_side((std::int64_t{1} << 53) - 1), 94906266);
}

TEST(Grid, IdsOfAnAxisNeedASide) {
  const std::int64_t ids[] = {5, 0, 3, 9, -1, 2};
  EXPECT_EQ(min_side(ids, 2, 0), 6);
  EXPECT_EQ(min_side(ids, 2, 1), 10);
  const std::int64_t below[] = {-7};
  EXPECT_EQ(min_side(below, 1, 0), 1);
  EXPECT_EQ(min_side({}, 2, 1), 1);
}

}  // namespace
}  // namespace sextant
