// Hands stand at the angles of the table.
#include "sextant/figures/clock_hands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/error_of.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;

// The ends of all hands, "lDX DY", in their order.
std::vector<std::pair<double, double>> hands(const std::string& svg) {
  std::vector<std::pair<double, double>> ends;
  const std::size_t end = svg.size();
  for (std::size_t at = svg.find('l'); at < end; at = svg.find('l', at + 1)) {
    double dx = 0, dy = 0;
    if (std::sscanf(svg.c_str() + at, "l%lf %lf", &dx, &dy) == 2) ends.emplace_back(dx, dy);
  }
  return ends;
}

TEST(ClockHands, TurnClockwiseFromTwelveByPositionTimesFrequency) {
  const Picture picture = plot_clock_hands({.width = 8, .first = 3}, {0, 2}, {"a", "b", "c"});
  const auto ends = hands(picture.svg);
  ASSERT_EQ(ends.size(), 6U);
  const double radius = std::hypot(ends[0].first, ends[0].second);
  for (std::size_t i = 0; i < 6; ++i) {
    const double position = 3.0 + static_cast<double>(i % 3);
    const double angle = position * (i < 3 ? 1.0 : 0.01);  // 10000^(-4 / 8)
    EXPECT_NEAR(ends[i].first, radius * std::sin(angle), 0.02) << i;
    EXPECT_NEAR(ends[i].second, -radius * std::cos(angle), 0.02) << i;
  }
  EXPECT_THAT(picture.svg, HasSubstr("once in 6.28 words"));
  EXPECT_THAT(picture.svg, HasSubstr("once in 628 words"));
}

TEST(ClockHands, RefusesWhatItCannotDraw) {
  const auto refusal_of = [](const std::vector<std::int64_t>& pairs,
                             const std::vector<std::string>& words) {
    return error_of([&] { plot_clock_hands({.width = 8}, pairs, words); });
  };
  EXPECT_THAT(refusal_of({0}, {}), HasSubstr("[figure.words] must be 1 .. 64, got 0"));
  EXPECT_THAT(refusal_of({0}, std::vector<std::string>(65, "x")), HasSubstr("got 65"));
  EXPECT_THAT(refusal_of({}, {"x"}), HasSubstr("[figure.pairs]"));
  EXPECT_THAT(refusal_of({4}, {"x"}), HasSubstr("must be 0 .. 3, got 4"));
}

}  // namespace
}  // namespace sextant::figures
