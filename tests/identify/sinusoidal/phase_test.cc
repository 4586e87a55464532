// Whole numbers by phase against trying them all.
#include "identify/sinusoidal/phase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace sextant::identify {
namespace {

TEST(EachPosition, VisitsThoseThatTryingAllNumbersFinds) {
  for (const double tolerance : {1e-5, 1e-3, 0.01, 0.3}) {
    for (const double phase : {0.0, 1.0, -2.0, 3.1}) {
      for (const std::int64_t start : {0, 1000}) {
        std::vector<std::int64_t> found, expected;
        each_position(phase, tolerance, start, 299999, [&](std::int64_t p) {
          found.push_back(p);
          return false;
        });
        for (std::int64_t p = start; p < 300000; ++p) {
          const double off = std::remainder(static_cast<double>(p) - phase, 2 * std::numbers::pi);
          if (std::abs(off) <= tolerance) expected.push_back(p);
        }
        EXPECT_EQ(found, expected) << phase << " " << tolerance;
      }
    }
  }
}

TEST(EachPosition, ReachesTwoToThe31InFewVisits) {
  for (const std::int64_t p : {std::int64_t{123456789}, (std::int64_t{1} << 31) - 1}) {
    // 2 pi as a double would be off by 1e-7 after so many turns; sine and cosine reduce exactly.
    const double angle = static_cast<double>(p);
    int visits = 0;
    std::int64_t found = -1;
    each_position(std::atan2(std::sin(angle), std::cos(angle)), 1e-9, 0, p, [&](std::int64_t n) {
      found = n;
      return ++visits == 20;
    });
    EXPECT_EQ(found, p);
  }
}

}  // namespace
}  // namespace sextant::identify
