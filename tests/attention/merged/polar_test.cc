// PoPE by expanded rows and a rotation, against its definition in float64; its gradients against
// differences; what is refused.
#include "sextant/attention/polar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/merged/self_extend_cases.h"
#include "sextant/attention/attention.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"

namespace sextant::polar_test {
namespace {

using self_extend_test::random_array;

constexpr std::int64_t kHeads = 3, kLength = 20, kDim = 6;
constexpr double kBase = 100;

double softplus_of(double x) { return std::log1p(std::exp(x)); }

Tensor<double> random_offsets(const Shape& shape) {
  const Tensor<float> drawn = random_array(shape, 9);
  Tensor<double> offsets(shape);
  for (std::int64_t i = 0; i < offsets.count(); ++i) {
    offsets.data()[i] = static_cast<double>(drawn.data()[i]);
  }
  return offsets;
}

// Section 3's score, softmax and sum.
TEST(PolarRows, MakeAttentionPope) {
  const Tensor<float> q = random_array({2, kHeads, kLength, kDim}, 1);
  const Tensor<float> k = random_array({2, kHeads, kLength, kDim}, 2);
  const Tensor<float> v = random_array({2, kHeads, kLength, 4}, 3);
  const Tensor<double> offsets = random_offsets({kHeads, kDim});
  Tensor<float> queries({2, kHeads, kLength, 2 * kDim}), keys(queries.shape());
  polar_rows(q, {}, queries.view());
  polar_rows(k, offsets, keys.view());
  const RotationTable<float> table = rotary<float>({.head_dim = 2 * kDim, .base = kBase}, kLength);
  const double scale = 1 / std::sqrt(static_cast<double>(kDim));
  Tensor<float> out(v.shape());
  attention<float>(queries, keys, v, out,
                   {.causal = Causal::top_left, .rotation = &table, .scale = scale});
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t i = 0; i < kLength; ++i) {
        double total = 0, sums[4] = {};
        for (std::int64_t j = 0; j <= i; ++j) {
          double score = 0;
          for (std::int64_t c = 0; c < kDim; ++c) {
            const double angle =
                static_cast<double>(j - i) * std::pow(kBase, -static_cast<double>(c) / kDim) +
                offsets(h, c);
            score += softplus_of(static_cast<double>(q(b, h, i, c))) *
                     softplus_of(static_cast<double>(k(b, h, j, c))) * std::cos(angle);
          }
          const double weight = std::exp(scale * score);
          total += weight;
          for (std::int64_t c = 0; c < 4; ++c) {
            sums[c] += weight * static_cast<double>(v(b, h, j, c));
          }
        }
        // Scores of at most ~20 with 12 products of float32, values below 4.
        for (std::int64_t c = 0; c < 4; ++c) {
          ASSERT_NEAR(out(b, h, i, c), sums[c] / total, 4 * 20 * 16 * 0x1p-24);
        }
      }
    }
  }
}

TEST(PolarRows, HaveGradientsOfDifferences) {
  for (const bool by_head : {false, true}) {
    const Tensor<float> x = random_array({2, kHeads, 5, kDim}, 1);
    const Tensor<float> dout = random_array({2, kHeads, 5, 2 * kDim}, 2);
    const Tensor<double> offsets = random_offsets(by_head ? Shape{kHeads, kDim} : Shape{kDim});
    const auto loss = [&](const Tensor<double>& at, std::int64_t moved, double by) {
      double sum = 0;
      for (std::int64_t n = 0; n < x.count(); ++n) {
        const std::int64_t c = n % kDim, row = n / kDim, h = row / 5 % kHeads;
        const double angle = at.data()[by_head ? h * kDim + c : c];
        const double m = softplus_of(static_cast<double>(x.data()[n]) + (n == moved ? by : 0));
        sum += m * (std::cos(angle) * static_cast<double>(dout.data()[row * 2 * kDim + c]) +
                    std::sin(angle) * static_cast<double>(dout.data()[row * 2 * kDim + kDim + c]));
      }
      return sum;
    };
    Tensor<float> dx(x.shape());
    Tensor<double> doffsets(offsets.shape());
    polar_rows_backward(x, offsets, dout, dx.view(), doffsets.view());
    constexpr double kStep = 1e-5;
    for (std::int64_t n = 0; n < x.count(); n += 7) {
      const double wanted = (loss(offsets, n, kStep) - loss(offsets, n, -kStep)) / (2 * kStep);
      ASSERT_NEAR(dx.data()[n], wanted, 1e-6) << n;
    }
    for (std::int64_t n = 0; n < offsets.count(); ++n) {
      Tensor<double> up = random_offsets(offsets.shape()), down = random_offsets(offsets.shape());
      up.data()[n] += kStep;
      down.data()[n] -= kStep;
      ASSERT_NEAR(doffsets.data()[n], (loss(up, -1, 0) - loss(down, -1, 0)) / (2 * kStep), 1e-6);
    }
  }
}

TEST(PolarRows, StandExtremeNumbersAndRefuseOthers) {
  Tensor<float> x({1, 1, 1, 4}), out({1, 1, 1, 8});
  x(0, 0, 0, 0) = 1e30F;
  x(0, 0, 0, 1) = -1e30F;
  x(0, 0, 0, 2) = std::numeric_limits<float>::infinity();
  polar_rows(x, {}, out.view());
  EXPECT_EQ(out(0, 0, 0, 0), 1e30F);
  EXPECT_EQ(out(0, 0, 0, 1), 0);
  EXPECT_EQ(out(0, 0, 0, 2), x(0, 0, 0, 2));
  EXPECT_EQ(out(0, 0, 0, 6), 0);
  EXPECT_FLOAT_EQ(out(0, 0, 0, 3), std::log(2.0F));

  const Tensor<double> few({3});
  expect_error("polar_rows.offsets", [&] { polar_rows(x, few, out.view()); });
  Tensor<double> bad({4});
  bad(1) = std::numeric_limits<double>::quiet_NaN();
  expect_error("polar_rows.offsets", [&] { polar_rows(x, bad, out.view()); });
  expect_error("polar_rows.out", [&] { polar_rows(x, {}, x.view()); });
  Tensor<double> doffsets({4});
  expect_error("polar_rows_backward.doffsets",
               [&] { polar_rows_backward(x, {}, out, x.view(), doffsets.view()); });
}

}  // namespace
}  // namespace sextant::polar_test
