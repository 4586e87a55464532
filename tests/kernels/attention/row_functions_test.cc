// Functions of rows of scores on every compiled instruction set, against float64.
#include "kernels/attention/row_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/rotate/every_target.h"
#include "sextant/core/random.h"

namespace sextant::kernels::row_functions_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Scores of every size, hidden and infinite ones; the number is no multiple of a vector's.
std::vector<float> scores() {
  std::vector<float> x{0, -0.0F, kInfinity, -kInfinity, std::nanf(""), 88, -88, 1000, -1000};
  NumpyRandom random(1);
  while (x.size() < 1003) x.push_back(static_cast<float>(random.normal() * 8));
  return x;
}

// Whether y is f(x) within a relative error; what is below 2^-126 may be 0.
template <class F>
void expect_near(const std::vector<float>& x, const std::vector<float>& y, double error,
                 const F& f) {
  for (std::size_t n = 0; n < x.size(); ++n) {
    const double expected = f(static_cast<double>(x[n])), got = static_cast<double>(y[n]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << x[n];
    } else if (std::isinf(expected)) {
      EXPECT_EQ(got, expected) << x[n];
    } else {
      EXPECT_NEAR(got, expected, error * std::abs(expected) + 1e-37) << x[n];
    }
  }
}

// e^x is within 4e-7 and, without fused operations, |x| 2^-23 more (exp-inl.h), which is below
// 1.1e-5 for |x| < 88; four more roundings.
constexpr double kError = 1.2e-5;

TEST(RowFunctions, AreThoseOfFloat64) {
  const std::vector<float> x = scores();
  std::vector<float> y(x.size());
  const auto count = static_cast<std::int64_t>(x.size());
  on_every_target([&] {
    sigmoids(x.data(), count, y.data());
    expect_near(x, y, kError, [](double z) { return 1 / (1 + std::exp(-z)); });
    EXPECT_EQ(y[3], 0);
    softplus(x.data(), count, y.data());
    expect_near(x, y, kError, [](double z) {
      return std::isnan(z) ? z : std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    });
    EXPECT_EQ(y[3], 0);
    softcaps(x.data(), count, 5, y.data());
    expect_near(x, y, 7e-7, [](double z) { return 5 * std::tanh(z / 5); });
  });
}

TEST(RowFunctions, DoNotDependOnTheIndex) {
  const std::vector<float> x = scores();
  const auto count = static_cast<std::int64_t>(x.size());
  std::vector<float> all(x.size()), one(1);
  on_every_target([&] {
    for (const auto function : {sigmoids, softplus}) {
      function(x.data(), count, all.data());
      for (std::size_t n = 0; n < x.size(); ++n) {
        function(x.data() + n, 1, one.data());
        ASSERT_TRUE(one[0] == all[n] || std::isnan(x[n])) << x[n];
      }
    }
    softcaps(x.data(), count, 5, all.data());
    for (std::size_t n = 0; n < x.size(); ++n) {
      softcaps(x.data() + n, 1, 5, one.data());
      ASSERT_TRUE(one[0] == all[n] || std::isnan(x[n])) << x[n];
    }
  });
}

TEST(RowFunctions, SubtractScores) {
  const std::vector<float> x = scores();
  std::vector<float> with(x.rbegin(), x.rend()), y(x.size());
  on_every_target([&] {
    score_differences(with.data(), x.data(), static_cast<std::int64_t>(x.size()), y.data());
    for (std::size_t n = 0; n < x.size(); ++n) {
      const float expected = x[n] == -kInfinity  ? 0
                             : x[n] == kInfinity ? std::nanf("")
                                                 : with[n] - x[n];
      EXPECT_TRUE(y[n] == expected || (std::isnan(y[n]) && std::isnan(expected))) << x[n];
    }
  });
}

TEST(RowFunctions, InterpolateATable) {
  constexpr std::int64_t kLast = 6;
  const std::vector<float> table{1, -2, 3, 5, -8, 13, 0.5F};
  std::vector<float> p{0,    0.25F, 1,         5.5F,          5.999F, 6,
                       6.5F, 1000,  kInfinity, std::nanf(""), 3,      2.75F};
  for (int n = 0; n < 40; ++n) p.push_back(static_cast<float>(n) * 0.17F);
  on_every_target([&] {
    std::vector<float> to(p.size(), 0.5F);
    add_interpolated(p.data(), static_cast<std::int64_t>(p.size()), table.data(), kLast, 2,
                     to.data());
    for (std::size_t n = 0; n < p.size(); ++n) {
      if (std::isnan(p[n])) {
        EXPECT_TRUE(std::isnan(to[n]));
        continue;
      }
      const double at = std::min(static_cast<double>(p[n]), static_cast<double>(kLast));
      const auto below = static_cast<std::size_t>(at);
      const double part = at - std::floor(at);
      const double number =
          (1 - part) * static_cast<double>(table[below]) +
          part * static_cast<double>(table[std::min<std::size_t>(below + 1, kLast)]);
      // Three roundings of numbers up to 26.
      EXPECT_NEAR(static_cast<double>(to[n]), 0.5 + 2 * number, 3 * 26 * 0x1p-24) << p[n];
    }
  });
}

// Rows of any number, from any first sum, with the sums of one row alone.
TEST(RowFunctions, SumRowsFromBothEnds) {
  constexpr std::int64_t kStride = 40, kBegin = 3, kEnd = 35;
  NumpyRandom random(2);
  std::vector<float> x(kSummedRows * kStride);
  for (float& number : x) number = static_cast<float>(random.uniform());
  for (std::int64_t rows = 1; rows <= kSummedRows; ++rows) {
    for (const bool from_end : {true, false}) {
      std::vector<float> to = x, expected = x;
      std::vector<double> sums(kSummedRows, 0.25), expected_sums = sums;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t n = kBegin; n < kEnd; ++n) {
          const std::int64_t j = r * kStride + (from_end ? kBegin + kEnd - 1 - n : n);
          auto& sum = expected_sums[static_cast<std::size_t>(r)];
          auto& number = expected[static_cast<std::size_t>(j)];
          sum += static_cast<double>(number);
          number = static_cast<float>(sum);
        }
      }
      (from_end ? sum_from_end : sum_from_begin)({to.data(), kStride, rows}, kBegin, kEnd,
                                                 sums.data());
      EXPECT_EQ(to, expected) << rows;
      EXPECT_EQ(sums, expected_sums) << rows;
    }
  }
}

}  // namespace
}  // namespace sextant::kernels::row_functions_test
