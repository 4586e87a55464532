// Cross entropy on every compiled instruction set against its formula in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/layers/layer_numbers.h"
#include "kernels/layers/rows.h"
#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

constexpr std::int64_t kRows = 9;

std::vector<std::int64_t> targets_for(std::int64_t width) {
  std::vector<std::int64_t> targets;
  for (std::int64_t r = 0; r < kRows; ++r) targets.push_back(r * 7 % width);
  targets[4] = -100;
  targets[6] = -1;
  return targets;
}

struct Row {
  double most = 0, total = 0, mean = 0;  // total: log of the sum of e^x
};

Row sums(const float* x, std::int64_t width) {
  Row row{wide(*std::max_element(x, x + width))};
  double powers = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    powers += std::exp(wide(x[i]) - row.most);
    row.mean += wide(x[i]) / static_cast<double>(width);
  }
  row.total = row.most + std::log(powers);
  return row;
}

// A power of e^-u has the relative error 4e-7 + (u + 1) 2^-23, with u here below `range`; the sum
// of n of them in four or more parts adds (n / 4 + 8) 2^-24.
double relative_error(std::int64_t width, double range) {
  return 4e-7 + (range + 1) * 0x1p-23 + (static_cast<double>(width) / 4 + 8) * 0x1p-24;
}

TEST(CrossEntropy, IsTheFormulaAndItsGradient) {
  on_every_target([] {
    for (const std::int64_t width : kWidths) {
      for (const double smoothing : {0.0, 0.1}) {
        const auto x = normal_numbers(kRows * width, 1, 3);
        const auto targets = targets_for(width);
        const double scale = 0.125;
        auto gradient = x;
        std::vector<TargetLoss> losses(kRows), forward(kRows);
        cross_entropy({kRows, width}, x.data(), targets.data(), smoothing, forward.data(), 2);
        cross_entropy_backward({kRows, width}, gradient.data(), targets.data(), smoothing, scale,
                               losses.data(), 2);
        for (std::int64_t r = 0; r < kRows; ++r) {
          const TargetLoss& l = losses[r];
          EXPECT_EQ(forward[r].loss, l.loss);
          EXPECT_EQ(forward[r].smoothed, l.smoothed);
          EXPECT_EQ(forward[r].correct, l.correct);
          const float* row = x.data() + r * width;
          if (targets[r] < 0) {
            EXPECT_TRUE(l.loss == 0 && l.smoothed == 0 && !l.counted && !l.correct);
            for (std::int64_t i = 0; i < width; ++i) ASSERT_EQ(gradient[r * width + i], 0);
            continue;
          }
          const Row s = sums(row, width);
          const double range = s.most - wide(*std::min_element(row, row + width));
          const double error = relative_error(width, range);
          const double own = wide(row[targets[r]]);
          EXPECT_TRUE(l.counted);
          EXPECT_EQ(l.correct, std::max_element(row, row + width) - row == targets[r]);
          ASSERT_NEAR(l.loss, s.total - own, error);
          // The mean of differences is within `range`, as relative as a sum.
          ASSERT_NEAR(l.smoothed, s.total - (1 - smoothing) * own - smoothing * s.mean,
                      error * (1 + smoothing * range));
          for (std::int64_t i = 0; i < width; ++i) {
            const double p = std::exp(wide(row[i]) - s.total);
            const double q =
                (i == targets[r] ? 1 - smoothing : 0) + smoothing / static_cast<double>(width);
            ASSERT_NEAR(gradient[r * width + i], scale * (p - q),
                        scale * (2 * error * p + 0x1p-23 * (p + q)));
          }
        }
      }
    }
  });
}

TEST(CrossEntropy, CountsTheFirstOfEqualLogitsAsTheAnswer) {
  const std::vector<float> x = {1, 2, 2};
  TargetLoss loss;
  for (const std::int64_t target : {0, 1, 2}) {
    cross_entropy({1, 3}, x.data(), &target, 0, &loss, 1);
    EXPECT_EQ(loss.correct, target == 1);
  }
}

TEST(CrossEntropy, TakesForbiddenColumns) {
  on_every_target([] {
    std::vector<float> x(40, -std::numeric_limits<float>::infinity());
    x[3] = x[20] = 5;
    const std::int64_t target = 20;
    TargetLoss loss;
    cross_entropy_backward({1, 40}, x.data(), &target, 0, 1, &loss, 1);
    EXPECT_NEAR(loss.loss, std::log(2.0), 1e-6);
    for (int i = 0; i < 40; ++i) EXPECT_NEAR(x[i], i == 3 ? 0.5 : i == 20 ? -0.5 : 0, 1e-6) << i;
  });
}

TEST(CrossEntropy, KeepsNan) {
  std::vector<float> x(40, 1.0F);
  x[7] = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t target = 20;
  TargetLoss loss;
  cross_entropy({1, 40}, x.data(), &target, 0, &loss, 1);
  EXPECT_TRUE(std::isnan(loss.loss));
}

}  // namespace
}  // namespace sextant::kernels
