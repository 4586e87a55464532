// AdamW and sums of squares on every compiled instruction set against float64.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/layers/layer_numbers.h"
#include "kernels/layers/rows.h"
#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

// Each step rounds p thrice (its decay, the move, their sum) and each moment thrice; the quotient
// of the moments has at most 12 roundings more and moves p by rate * quotient. Ten steps.
TEST(AdamW, StepsAsItsFormulaDoes) {
  on_every_target([] {
    for (const std::int64_t count : {1, 5, 16, 100, 9000}) {
      const auto n = static_cast<std::size_t>(count);
      auto p = normal_numbers(count, 1);
      std::vector<float> m(n), v(n);
      std::vector<double> p64(p.begin(), p.end()), m64(n), v64(n), moved(n);
      for (int step = 1; step <= 10; ++step) {
        const AdamWStep o{step, 1e-2, 0.9, 0.98, 1e-8, 0.1, 0.5};
        const auto gradient = normal_numbers(count, 100 + static_cast<unsigned>(step));
        auto used = gradient;
        adamw(o, used.data(), count, p.data(), m.data(), v.data(), 2);
        ASSERT_EQ(used, std::vector<float>(n)) << "left for the next pass to add to";
        for (std::size_t i = 0; i < n; ++i) {
          const double g = wide(gradient[i]) * o.factor;
          p64[i] -= o.rate * o.decay * p64[i];
          m64[i] = o.beta1 * m64[i] + (1 - o.beta1) * g;
          v64[i] = o.beta2 * v64[i] + (1 - o.beta2) * g * g;
          const double m_hat = m64[i] / (1 - std::pow(o.beta1, step));
          const double v_hat = v64[i] / (1 - std::pow(o.beta2, step));
          p64[i] -= o.rate * m_hat / (std::sqrt(v_hat) + o.eps);
          // The first moment may cancel: relative to its terms, at most the largest gradient's.
          moved[i] += o.rate * 5 / (std::sqrt(v_hat) + o.eps);
          const double error =
              3 * step * 0x1p-24 * (std::fabs(p64[i]) + 0.2) + (12 + 3 * step) * 0x1p-24 * moved[i];
          ASSERT_NEAR(p[i], p64[i], error) << "step " << step;
        }
      }
    }
  });
}

TEST(AdamW, LeavesOnlyDecayWhereThereIsNoGradient) {
  std::vector<float> p(20, 2.0F), zero(20), m(20), v(20);
  adamw({1, 0.5, 0.9, 0.98, 1e-8, 0.5, 1}, zero.data(), 20, p.data(), m.data(), v.data(), 1);
  for (const float value : p) EXPECT_EQ(value, 1.5F);
}

TEST(AdamW, HasTheSameBitsForAnyNumberOfThreads) {
  const auto gradient = normal_numbers(30001, 1);
  const auto run = [&](int threads) {
    auto p = normal_numbers(30001, 2), used = gradient;
    std::vector<float> m(p.size()), v(p.size());
    adamw({3, 1e-3, 0.9, 0.98, 1e-8, 0.1, 1}, used.data(), 30001, p.data(), m.data(), v.data(),
          threads);
    return p;
  };
  EXPECT_EQ(run(1), run(3));
}

// float64 has 29 bits to spare: the sum is exact to 2^-53 per element.
TEST(SumOfSquares, IsTakenInFloat64) {
  on_every_target([] {
    for (const std::int64_t count : {0, 1, 7, 8, 33, 8192, 20003}) {
      const auto x = normal_numbers(count, 1, 1e15F);
      double expected = 0;
      for (const float v : x) expected += wide(v) * wide(v);
      const double sum = sum_of_squares(x.data(), count, 2);
      EXPECT_NEAR(sum, expected, static_cast<double>(count) * 0x1p-52 * expected);
      EXPECT_EQ(sum, sum_of_squares(x.data(), count, 1));
    }
  });
}

// 64 rows are summed in float32, then all in float64: 65 roundings.
TEST(ColumnSums, AddTheRowsUp) {
  on_every_target([] {
    for (const std::int64_t width : kWidths) {
      const auto x = normal_numbers(150 * width, 1);
      auto sums = normal_numbers(width, 2);
      const auto before = sums;
      add_column_sums({150, width}, x.data(), sums.data(), 2);
      for (std::int64_t i = 0; i < width; ++i) {
        double sum = wide(before[i]), size = std::fabs(sum);
        for (std::int64_t r = 0; r < 150; ++r) {
          sum += wide(x[r * width + i]);
          size += std::fabs(wide(x[r * width + i]));
        }
        ASSERT_NEAR(sums[i], sum, 65 * 0x1p-24 * size);
      }
      auto again = before;
      add_column_sums({150, width}, x.data(), again.data(), 1);
      EXPECT_EQ(again, sums);
    }
  });
}

TEST(AddElements, AddsEach) {
  on_every_target([] {
    for (const std::int64_t count : {0, 1, 17, 9000}) {
      const auto x = normal_numbers(count, 1);
      auto y = normal_numbers(count, 2);
      const auto before = y;
      add_elements(x.data(), count, y.data(), 2);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], before[i] + x[i]);
    }
  });
}

}  // namespace
}  // namespace sextant::kernels
