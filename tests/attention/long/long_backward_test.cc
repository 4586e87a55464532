// Gradients whose sums have up to a million terms: over keys for queries, over queries for keys,
// values, biases and masks. Their error does not grow with the number of terms.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "attention/long/long_rows.h"
#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"

namespace sextant::long_backward_test {
namespace {

// A gradient is off by what its own sum rounds, and by what the sums in its terms did: the output
// in delta, and the log-sum-exp in the weights.
constexpr double kGradientError = 3 * kLongError;

// Exact values, and the sums of the sizes of their terms.
struct Exact {
  explicit Exact(const Shape& shape) : values(shape), sizes(shape) {}
  void add(std::int64_t n, double term, double size) {
    values.data()[n] += term;
    sizes.data()[n] += size;
  }
  void expect_near(const Tensor<float>& got, const std::string& name) const {
    ASSERT_EQ(got.count(), values.count());
    for (std::int64_t n = 0; n < got.count(); ++n) {
      const double error = std::abs(static_cast<double>(got.data()[n]) - values.data()[n]);
      ASSERT_LE(error, kGradientError * sizes.data()[n]) << name << " at " << n;
    }
  }
  Tensor<double> values, sizes;
};

struct Gradients {
  explicit Gradients(const LongRows& in)
      : q(in.q.shape()), k(in.k.shape()), v(in.v.shape()), mask(Shape{1, in.k.size(2)}) {}
  Exact q, k, v, mask;
  double slope = 0, slope_size = 0;
};

Gradients exact_gradients(const LongRows& in) {
  constexpr std::int64_t kWidth = LongRows::kWidth;
  const std::int64_t queries = in.q.size(2), keys = in.k.size(2);
  Gradients g(in);
  std::vector<double> dp(static_cast<std::size_t>(keys)), dp_size(dp.size());
  for (std::int64_t i = 0; i < queries; ++i) {
    const ExactRow row(in, i, keys, kNoSink);
    double delta = 0, delta_size = 0;
    for (std::int64_t j = 0; j < keys; ++j) {
      const auto n = static_cast<std::size_t>(j);
      dp[n] = dp_size[n] = 0;
      for (std::int64_t c = 0; c < kWidth; ++c) {
        const double term =
            static_cast<double>(in.dout(0, 0, i, c)) * static_cast<double>(in.v(0, 0, j, c));
        dp[n] += term;
        dp_size[n] += std::abs(term);
      }
      delta += row.weights[n] * dp[n];
      delta_size += row.weights[n] * dp_size[n];
    }
    for (std::int64_t j = 0; j < keys; ++j) {
      const auto n = static_cast<std::size_t>(j);
      const double p = row.weights[n], ds = p * (dp[n] - delta);
      const double size = p * (dp_size[n] + delta_size);
      g.mask.add(j, ds, size);
      const double distance = std::abs(static_cast<double>(j - i));
      g.slope -= distance * ds;
      g.slope_size += distance * size;
      for (std::int64_t c = 0; c < kWidth; ++c) {
        const double q = static_cast<double>(in.q(0, 0, i, c)) / 4;
        const double k = static_cast<double>(in.k(0, 0, j, c)) / 4;
        const double out = p * static_cast<double>(in.dout(0, 0, i, c));
        g.q.add(i * kWidth + c, ds * k, size * std::abs(k));
        g.k.add(j * kWidth + c, ds * q, size * std::abs(q));
        g.v.add(j * kWidth + c, out, std::abs(out));
      }
    }
  }
  return g;
}

using Case = std::tuple<std::int64_t, Row, bool>;  // terms, row, whether log-sum-exps are given

class LongBackward : public ::testing::TestWithParam<Case> {
 protected:
  static void expect_exact(const LongRows& in, bool gives_logs) {
    Tensor<float> out(in.q.shape()), logs(Shape{1, 1, in.q.size(2)});
    Tensor<float> dq(in.q.shape()), dk(in.k.shape()), dv(in.v.shape());
    Tensor<float> zeros(Shape{1, in.k.size(2)}), dmask(zeros.shape()), dslope(Shape{1});
    const DistanceBias no_slope{.slopes = {0.0}};
    AttentionOptions<float> options;
    const std::vector<std::int64_t> offsets{0};
    options.bias = &no_slope;
    options.query_offsets = offsets;
    options.mask = FloatMask<float>(zeros);
    attention<float>(in.q, in.k, in.v, out, options, logs);
    attention_backward<float>(
        in.q, in.k, in.v, out, in.dout,
        {.q = dq, .k = dk, .v = dv, .bias = {.slopes = dslope}, .mask = dmask}, options,
        gives_logs ? View<const float>(logs) : View<const float>());
    const Gradients exact = exact_gradients(in);
    exact.q.expect_near(dq, "q");
    exact.k.expect_near(dk, "k");
    exact.v.expect_near(dv, "v");
    exact.mask.expect_near(dmask, "mask");
    EXPECT_NEAR(dslope.data()[0], exact.slope, kGradientError * exact.slope_size);
  }
};

TEST_P(LongBackward, OfManyKeys) {
  const auto [keys, row, gives_logs] = GetParam();
  expect_exact(LongRows(row, 3, keys), gives_logs);
}

TEST_P(LongBackward, OfManyQueries) {
  const auto [queries, row, gives_logs] = GetParam();
  expect_exact(LongRows(row, queries, 5), gives_logs);
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  const auto [terms, row, gives_logs] = info.param;
  return std::string(name_of(row)) + (gives_logs ? "_with_logs_" : "_") + std::to_string(terms);
}

// A span has 4,096 keys or 8,192 queries.
INSTANTIATE_TEST_SUITE_P(Terms, LongBackward,
                         ::testing::Combine(::testing::Values(4097, 8193, 1 << 17),
                                            ::testing::ValuesIn(kRows), ::testing::Bool()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(DISABLED_Million, LongBackward,
                         ::testing::Combine(::testing::Values(1 << 20), ::testing::ValuesIn(kRows),
                                            ::testing::Bool()),
                         name_of_case);

}  // namespace
}  // namespace sextant::long_backward_test
