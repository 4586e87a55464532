// Sandwich: golden sums, the heads' factors, and that it is sinusoids multiplied.
#include "sextant/schemes/distance/sandwich.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "schemes/distance/distance_checks.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

TEST(Sandwich, HasTheKnownSumsTimesTheHeadsFactor) {
  const Sandwich options{.heads = 4};
  const DistanceBias bias = sandwich(options, 513);
  const std::pair<std::int64_t, double> known[] = {
      {0, 64}, {1, 62.093684}, {2, 57.381861}, {8, 45.720514}, {64, 30.520059}, {512, 14.043160}};
  for (const auto& [distance, sum] : known) {
    for (std::int64_t head = 0; head < 4; ++head) {
      const double expected = 4.0 / (8.0 * static_cast<double>(head + 1)) * sum;
      // Eight printed digits: half of 1e-6 in the sum; and float32's rounding.
      EXPECT_NEAR(bias.values(head, 512 - distance), expected, 1e-6 + expected * 0x1p-24);
      EXPECT_EQ(bias.values(head, 512 + distance), bias.values(head, 512 - distance));
    }
  }
}

// The paper's derivation: <p_i, p_j> of sinusoidal positions.
TEST(Sandwich, IsTheInnerProductOfSinusoidalPositions) {
  Sinusoidal sinusoids{.length = 40, .width = 16, .base = 500};
  const Tensor<double> table = sinusoidal<double>(sinusoids);
  const testing::Asked asked(40, 2, {{"dim", "16"}, {"base", "500"}});
  testing::expect_formula("sandwich", asked.request,
                          [&](const SchemeWeights&, std::int64_t head, std::int64_t distance) {
                            double product = 0;
                            for (std::int64_t c = 0; c < 16; ++c) {
                              product += table(0, c) * table(std::abs(distance), c);
                            }
                            return 2.0 / (8.0 * static_cast<double>(head + 1)) * product;
                          });
}

TEST(Sandwich, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("sandwich", {{"dim", "7"}}),
            "[sandwich.dim] must be even and 2 .. 2^16, got 7");
  EXPECT_THAT(testing::refusal("sandwich", {{"dim", "0"}}), HasSubstr("[sandwich.dim]"));
  EXPECT_THAT(testing::refusal("sandwich", {{"dim", "65538"}}), HasSubstr("[sandwich.dim]"));
  EXPECT_THAT(testing::refusal("sandwich", {{"base", "0"}}), HasSubstr("[sandwich.base]"));
  EXPECT_THAT(testing::refusal("sandwich", {{"base", "inf"}}), HasSubstr("[sandwich.base]"));
  EXPECT_THAT(testing::refusal("sandwich", {}, 0), HasSubstr("[sandwich.heads]"));
  EXPECT_THAT(error_of([] { sandwich({}, 0); }), HasSubstr("[sandwich.length]"));
}

}  // namespace
}  // namespace sextant
