// Whole numbers by phase against trying them all.
#include "identify/sinusoidal/phase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace sextant::identify {
namespace {

TEST(PhaseVisits, AreThoseThatTryingAllNumbersFinds) {
  for (const double tolerance : {1e-5, 1e-3, 0.01, 0.3}) {
    for (const double phase : {0.0, 1.0, -2.0, 3.1}) {
      for (const std::int64_t start : {0, 1000}) {
        PhaseVisits visits(phase, tolerance, start);
        for (std::int64_t p = start; p < 300000; ++p) {
          const double off = std::remainder(static_cast<double>(p) - phase, 2 * std::numbers::pi);
          if (std::abs(off) > tolerance) continue;
          ASSERT_EQ(visits.next(), p) << phase << " " << tolerance;
        }
      }
    }
  }
}

TEST(PhaseVisits, ReachTwoToThe31InFewSteps) {
  for (const std::int64_t p : {std::int64_t{123456789}, (std::int64_t{1} << 31) - 1}) {
    // 2 pi as a double would be off by 1e-7 after so many turns; sine and cosine reduce exactly.
    const double angle = static_cast<double>(p);
    PhaseVisits visits(std::atan2(std::sin(angle), std::cos(angle)), 1e-9, 0);
    int steps = 0;
    std::int64_t found = -1;
    while (found < p && ++steps < 20) found = visits.next();
    EXPECT_EQ(found, p);
  }
}

}  // namespace
}  // namespace sextant::identify
