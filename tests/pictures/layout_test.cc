// Ticks at round numbers.
#include "pictures/layout.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::pictures {
namespace {

using Labels = std::vector<std::string>;

TEST(Layout, TicksAreRoundNumbers) {
  EXPECT_EQ(round_ticks(0, 1, 6).labels, Labels({"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(round_ticks(-1, 1, 5).labels, Labels({"−1.0", "−0.5", "0.0", "0.5", "1.0"}));
  EXPECT_EQ(round_ticks(0, 99, 6).labels, Labels({"0", "20", "40", "60", "80"}));
  EXPECT_EQ(round_ticks(0.12, 0.19, 4).labels, Labels({"0.12", "0.14", "0.16", "0.18"}));
}

TEST(Layout, WholeTicksStayWhole) {
  EXPECT_EQ(round_ticks(0, 2, 20, true).labels, Labels({"0", "1", "2"}));
  EXPECT_EQ(round_ticks(7, 7, 20, true).labels, Labels({"7"}));
}

TEST(Layout, TicksStayInsideAndAreNeverTooMany) {
  for (double high = 1e-6; high < 1e9; high *= 1.7) {
    for (const double low : {-high, 0.0, high * 0.93}) {
      for (int most = 2; most < 12; ++most) {
        const Ticks ticks = round_ticks(low, high, most);
        ASSERT_GE(ticks.at.size(), 1u) << low << " .. " << high;
        EXPECT_LE(ticks.at.size(), static_cast<std::size_t>(most)) << low << " .. " << high;
        for (const double at : ticks.at) {
          EXPECT_GE(at, low - (high - low) * 1e-8);
          EXPECT_LE(at, high + (high - low) * 1e-8);
        }
      }
    }
  }
}

TEST(Layout, LabelsOfNeighboursDiffer) {
  for (const double low : {0.0, 1e6, 1e12, -3e-7}) {
    for (const double length : {1e-4, 0.3, 1.0, 70.0, 2e6}) {
      const Ticks ticks = round_ticks(low, low + length, 8);
      for (std::size_t i = 1; i < ticks.labels.size(); ++i) {
        EXPECT_NE(ticks.labels[i - 1], ticks.labels[i]) << low << " + " << length;
      }
    }
  }
}

TEST(Layout, RangesAreNeverEmpty) {
  for (const double value : {0.0, 5.0, -1e300, 1e-300, 1e9}) {
    const Range range = range_of(value, value, 0.05);
    EXPECT_LT(range.low, range.high) << value;
    EXPECT_TRUE(std::isfinite(range.high - range.low));
  }
}

TEST(Layout, SixteenSeriesHaveDifferentColorsAndTheNextDashes) {
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(series_dash(i), "");
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(series_color(i), series_color(j));
  }
  EXPECT_NE(series_dash(16), "");
}

}  // namespace
}  // namespace sextant::pictures
