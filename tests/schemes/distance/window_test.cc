// Windows as biases: what is seen, on which side, and at which steps.
#include "sextant/schemes/distance/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "schemes/distance/distance_checks.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

// '#' for what is seen, from the farthest past to the farthest future.
std::string drawn(const LocalWindow& options, std::int64_t length) {
  const DistanceBias bias = window(options, length);
  EXPECT_EQ(bias.values.shape(), Shape({1, 2 * length - 1}));
  EXPECT_EQ(bias.origin, length - 1);
  std::string seen;
  for (const float value : bias.values.span()) {
    EXPECT_TRUE(value == 0 || value == -std::numeric_limits<float>::infinity());
    seen += value == 0 ? '#' : '.';
  }
  return seen;
}

TEST(LocalWindow, SeesSoManyKeysOnEitherSideAndItsOwn) {
  EXPECT_EQ(drawn({.left = 2, .right = 1}, 5), "..####...");
  EXPECT_EQ(drawn({.left = 0, .right = 0}, 3), "..#..");
  // Mistral's window of w keys with its own: left w - 1, right 0.
  EXPECT_EQ(drawn({.left = 3, .right = 0}, 5), ".####....");
}

TEST(LocalWindow, MayBeOpenOnASide) {
  EXPECT_EQ(drawn({.left = -1, .right = 0}, 4), "####...");
  EXPECT_EQ(drawn({.left = -1, .right = -1}, 3), "#####");
}

TEST(LocalWindow, DilatedTakesEveryNthKeyAndReachesFurther) {
  EXPECT_EQ(drawn({.left = 2, .right = 1, .dilation = 3}, 8), ".#..#..#..#....");
  EXPECT_EQ(drawn({.left = -1, .right = 0, .dilation = 2}, 6), ".#.#.#.....");
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(drawn({.left = kMax, .right = kMax, .dilation = kMax}, 3), "..#..");
}

TEST(LocalWindow, IsASchemeWithOneRowForAllHeads) {
  const testing::Asked asked(5, 3, {{"left", "1"}, {"right", "0"}});
  const DistanceBias bias = testing::distance_bias_of("window", asked.request);
  ASSERT_EQ(bias.values.shape(), Shape({1, 9}));
  EXPECT_EQ(bias.values(0, 3), 0);
  EXPECT_EQ(bias.values(0, 5), testing::kHidden);
}

TEST(LocalWindow, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("window", {{"left", "-2"}}),
            "[window.left] must be at least -1, got -2");
  EXPECT_THAT(testing::refusal("window", {{"right", "-2"}}), HasSubstr("[window.right]"));
  EXPECT_EQ(testing::refusal("window", {{"dilation", "0"}}),
            "[window.dilation] must be at least 1, got 0");
  EXPECT_THAT(error_of([] { window({}, 0); }), HasSubstr("[window.length]"));
}

}  // namespace
}  // namespace sextant
