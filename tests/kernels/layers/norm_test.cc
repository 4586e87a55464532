// Norms on every compiled instruction set against their formulas in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/layers/layer_numbers.h"
#include "kernels/layers/rows.h"
#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

constexpr double kEps = 1e-5;
constexpr std::int64_t kRows = 131;  // two whole blocks of sums and a part

struct Case {
  RowShape shape;
  bool centred;
  std::vector<float> x, dy, gain, bias;
};

Case random_case(std::int64_t width, bool centred) {
  Case c{{kRows, width},
         centred,
         normal_numbers(kRows * width, 1, 2),
         normal_numbers(kRows * width, 2),
         normal_numbers(width, 3),
         normal_numbers(width, 4)};
  for (float& v : c.x) v += 0.5F;
  return c;
}

struct Row {
  double mean = 0, scale = 0;
};

Row statistics(const Case& c, std::int64_t r) {
  const float* x = c.x.data() + r * c.shape.width;
  Row row;
  const auto n = static_cast<double>(c.shape.width);
  for (std::int64_t i = 0; c.centred && i < c.shape.width; ++i) row.mean += wide(x[i]) / n;
  double squares = 0;
  for (std::int64_t i = 0; i < c.shape.width; ++i) squares += std::pow(wide(x[i]) - row.mean, 2);
  row.scale = 1 / std::sqrt(squares / n + kEps);
  return row;
}

// A sum of n numbers in at least four parts has at most n / 4 + 8 roundings behind each other; the
// mean of numbers below `most` is off by (n / 4 + 8) 2^-24 most. With that, x - mean is off by as
// much and a rounding; its square's sum likewise, relative to itself twice.
double roundings(std::int64_t width) { return (static_cast<double>(width) / 4 + 8) * 0x1p-24; }

double largest(const Case& c, std::int64_t r) {
  double most = 0;
  for (std::int64_t i = 0; i < c.shape.width; ++i) {
    most = std::max(most, std::fabs(wide(c.x[r * c.shape.width + i])));
  }
  return most;
}

// h = (x - mean) scale: the mean's error in units of the row's spread, and the scale's, which is
// half that of the sum of squares, relative to h.
double h_error(const Case& c, std::int64_t r, const Row& row, double h) {
  const double shift = roundings(c.shape.width) * largest(c, r) * row.scale;
  return shift + std::fabs(h) * (2 * roundings(c.shape.width) + shift);
}

struct Forward {
  std::vector<float> y, mean, scale;
};

Forward run(const Case& c, int threads) {
  Forward f{std::vector<float>(c.x.size()), std::vector<float>(kRows), std::vector<float>(kRows)};
  if (c.centred) {
    layer_norm(c.shape, c.x.data(), c.gain.data(), c.bias.data(), kEps, f.y.data(), f.mean.data(),
               f.scale.data(), threads);
  } else {
    rms_norm(c.shape, c.x.data(), c.gain.data(), kEps, f.y.data(), f.scale.data(), threads);
  }
  return f;
}

struct Backward {
  std::vector<float> dx, dgain, dbias;
};

Backward run_backward(const Case& c, const Forward& f, bool add, int threads) {
  Backward b{std::vector<float>(c.x.size(), 1.0F), c.bias, c.gain};
  if (c.centred) {
    layer_norm_backward(c.shape, c.dy.data(), c.x.data(), c.gain.data(), f.mean.data(),
                        f.scale.data(), {b.dx.data(), add, b.dgain.data(), b.dbias.data()},
                        threads);
  } else {
    rms_norm_backward(c.shape, c.dy.data(), c.x.data(), c.gain.data(), f.scale.data(),
                      {b.dx.data(), add, b.dgain.data(), nullptr}, threads);
  }
  return b;
}

TEST(RowNorms, AreTheirFormulas) {
  on_every_target([] {
    for (const bool centred : {true, false}) {
      for (const std::int64_t width : kWidths) {
        if (width == 1 && centred) continue;  // a spread of nothing: see below
        const Case c = random_case(width, centred);
        const Forward f = run(c, 2);
        for (std::int64_t r = 0; r < kRows; ++r) {
          const Row row = statistics(c, r);
          for (std::int64_t i = 0; i < width; ++i) {
            const std::int64_t at = r * width + i;
            const double h = (wide(c.x[at]) - row.mean) * row.scale;
            const double bias = centred ? wide(c.bias[i]) : 0;
            const double expected = h * wide(c.gain[i]) + bias;
            const double error =
                h_error(c, r, row, h) * std::fabs(wide(c.gain[i])) + 0x1p-23 * std::fabs(expected);
            ASSERT_NEAR(f.y[at], expected, error) << centred << ' ' << width;
          }
        }
      }
    }
  });
}

TEST(RowNorms, OneColumnAloneIsItsBias) {
  const float x = 3, gain = 2, bias = 0.5F;
  float y = 0, mean = 0, scale = 0;
  layer_norm({1, 1}, &x, &gain, &bias, kEps, &y, &mean, &scale, 1);
  EXPECT_EQ(y, 0.5F);
  layer_norm({1, 1}, &x, &gain, nullptr, kEps, &y, &mean, &scale, 1);
  EXPECT_EQ(y, 0);
}

// Beside the errors of h and of the two means, each relative to the largest term, dx has five
// roundings; the sums over rows have 64 in float32 and one at the end.
TEST(RowNorms, HaveTheGradientsOfTheirFormulas) {
  on_every_target([] {
    for (const bool centred : {true, false}) {
      for (const std::int64_t width : kWidths) {
        if (width == 1 && centred) continue;
        const Case c = random_case(width, centred);
        const Forward f = run(c, 1);
        const Backward plain = run_backward(c, f, false, 2), added = run_backward(c, f, true, 2);
        std::vector<double> dgain(c.gain.size()), dbias(c.gain.size()), size(c.gain.size());
        const auto n = static_cast<double>(width);
        for (std::int64_t r = 0; r < kRows; ++r) {
          const Row row = statistics(c, r);
          const auto h = [&](std::int64_t i) {
            return (wide(c.x[r * width + i]) - row.mean) * row.scale;
          };
          const auto g = [&](std::int64_t i) {
            return wide(c.dy[r * width + i]) * wide(c.gain[i]);
          };
          double mean_g = 0, mean_gh = 0, most_g = 0, most_h = 0;
          for (std::int64_t i = 0; i < width; ++i) {
            if (centred) mean_g += g(i) / n;
            mean_gh += g(i) * h(i) / n;
            most_g = std::max(most_g, std::fabs(g(i)));
            most_h = std::max(most_h, std::fabs(h(i)));
            dgain[i] += wide(c.dy[r * width + i]) * h(i);
            dbias[i] += wide(c.dy[r * width + i]);
            size[i] += std::fabs(wide(c.dy[r * width + i])) * (std::fabs(h(i)) + 1);
          }
          const double relative = h_error(c, r, row, most_h) + 2 * roundings(width);
          for (std::int64_t i = 0; i < width; ++i) {
            const double expected = row.scale * (g(i) - mean_g - h(i) * mean_gh);
            const double error = 4 * relative * row.scale * most_g * (1 + most_h) * (1 + most_h);
            ASSERT_NEAR(plain.dx[r * width + i], expected, error) << centred << ' ' << width;
            ASSERT_NEAR(added.dx[r * width + i], 1 + expected, error + 0x1p-23);
          }
          for (std::int64_t i = 0; i < width; ++i) {
            size[i] += std::fabs(wide(c.dy[r * width + i])) * h_error(c, r, row, most_h) * 0x1p18;
          }
        }
        for (std::int64_t i = 0; i < width; ++i) {
          const double error = 66 * 0x1p-24 * size[i] + 0x1p-22;
          ASSERT_NEAR(plain.dgain[i], dgain[i] + wide(c.bias[i]), error) << width;
          ASSERT_NEAR(plain.dbias[i], (centred ? dbias[i] : 0) + wide(c.gain[i]), error);
        }
      }
    }
  });
}

TEST(RowNorms, HaveTheSameBitsForAnyNumberOfThreads) {
  for (const bool centred : {true, false}) {
    const Case c = random_case(67, centred);
    const Forward f = run(c, 1);
    const Backward one = run_backward(c, f, false, 1);
    EXPECT_EQ(run(c, 3).y, f.y);
    const Backward three = run_backward(c, f, false, 3);
    EXPECT_EQ(three.dx, one.dx);
    EXPECT_EQ(three.dgain, one.dgain);
    EXPECT_EQ(three.dbias, one.dbias);
  }
}

}  // namespace
}  // namespace sextant::kernels
