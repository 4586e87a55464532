// Sinusoidal tables against values printed elsewhere: the course, the libraries of the family.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::sinusoidal_golden_test {
namespace {

std::vector<double> row_at_time(const Sinusoidal& options, double time) {
  const double times[] = {time};
  const Tensor<double> table = sinusoidal<double>(options, std::span<const double>(times));
  return {table.span().begin(), table.span().end()};
}

std::vector<double> row_at(const Sinusoidal& options, std::int64_t position) {
  const std::int64_t positions[] = {position};
  const Tensor<double> table = sinusoidal<double>(options, positions);
  return {table.span().begin(), table.span().end()};
}

// Printed with eight significant digits, so off by half a unit of the eighth.
void expect_printed(const std::vector<double>& row, const std::vector<double>& printed) {
  ASSERT_EQ(row.size(), printed.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double unit =
        printed[i] == 0 ? 0 : std::pow(10.0, std::floor(std::log10(std::fabs(printed[i]))) - 7);
    EXPECT_NEAR(row[i], printed[i], 0.501 * unit) << "column " << i;
  }
}

TEST(SinusoidalValues, AreThoseOfTheCourseTable) {
  const double expected[4][4] = {
      {0, 1, 0, 1},
      {0.8414709848078965, 0.5403023058681397, 0.09983341664682817, 0.9950041652780256},
      {0.9092974268256816, -0.4161468365471424, 0.19866933079506124, 0.9800665778412417},
      {0.1411200080598672, -0.9899924966004454, 0.2955202066613396, 0.9553364891256061}};
  const Tensor<double> table = sinusoidal<double>({.length = 4, .width = 4, .base = 100});
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t c = 0; c < 4; ++c) EXPECT_NEAR(table(i, c), expected[i][c], 1e-15);
  }
}

TEST(SinusoidalValues, AreThoseOfEveryLibraryOfTheFamily) {
  using L = SinusoidalLayout;
  constexpr Ladder kOther = Ladder::d_half_minus_1;
  expect_printed(row_at({.width = 6}, 3),
                 {0.14112001, -0.98999250, 0.13879810, 0.99032070, 0.0064632591, 0.99997911});
  expect_printed(row_at({.width = 6, .layout = L::half_split}, 3),
                 {0.14112001, 0.13879810, 0.0064632591, -0.98999250, 0.99032070, 0.99997911});
  expect_printed(row_at({.width = 6, .layout = L::half_split, .ladder = kOther}, 3),
                 {0.14112001, 0.029995500, 0.0003, -0.98999250, 0.99955003, 0.99999996});
  expect_printed(row_at({.width = 6, .layout = L::cos_first, .ladder = kOther}, 3),
                 {-0.98999250, 0.99955003, 0.99999996, 0.14112001, 0.029995500, 0.0003});
  expect_printed(row_at({.width = 6, .layout = L::cos_first}, 3),
                 {-0.98999250, 0.99032070, 0.99997911, 0.14112001, 0.13879810, 0.0064632591});
  expect_printed(
      row_at({.width = 6, .layout = L::half_split, .ladder = kOther, .scale = std::sqrt(2.0 / 6.0)},
             3),
      {0.081475675, 0.017317910, 0.00017320508, -0.57157243, 0.57709048, 0.57735024});
  expect_printed(row_at({.width = 6, .exponent = Exponent::doubled_unpaired}, 3),
                 {0.14112001, 0.99032070, 0.0064632591, 0.99999996, 1.3924767e-05, 1});
  expect_printed(row_at({.width = 5}, 3),
                 {0.14112001, -0.98999250, 0.075285293, 0.99716204, 0.0018928709});
  expect_printed(row_at({.width = 7, .layout = L::half_split, .ladder = kOther}, 3),
                 {0.14112001, 0.029995500, 0.0003, -0.98999250, 0.99955003, 0.99999996, 0});
  expect_printed(row_at_time({.width = 8, .layout = L::half_split, .ladder = kOther}, 10.5),
                 {-0.87969576, 0.46830092, 0.022619635, 0.0010499998, -0.47553693, 0.88356904,
                  0.99974414, 0.99999945});
  expect_printed(row_at_time({.width = 8, .layout = L::cos_first}, 10.5),
                 {-0.47553693, 0.49757105, 0.99449256, 0.99994488, -0.87969576, 0.86742323,
                  0.10480717, 0.010499807});
}

// The chapter's two cosine similarities of positions 2 and 10.
TEST(SinusoidalValues, GiveTheSimilaritiesOfTheChapter) {
  for (const auto& [exponent, expected] : {std::pair{Exponent::doubled, 0.8600013331392378},
                                           std::pair{Exponent::standard, 0.7225200832468275}}) {
    const std::vector<double> a = row_at({.width = 512, .exponent = exponent}, 2);
    const std::vector<double> b = row_at({.width = 512, .exponent = exponent}, 10);
    double dot = 0;
    double aa = 0;
    double bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      dot += a[i] * b[i];
      aa += a[i] * a[i];
      bb += b[i] * b[i];
    }
    EXPECT_NEAR(dot / std::sqrt(aa * bb), expected, 512 * 1.2e-16);
  }
}

}  // namespace
}  // namespace sextant::sinusoidal_golden_test
