// Gradients against the oracle in wider arithmetic, the oracle against finite differences, and what
// hidden rows and keys may not do.
#include "sextant/attention/backward.h"

#include <gtest/gtest.h>

#include "attention/backward_cases.h"
#include "attention/backward_tolerances.h"

namespace sextant {
namespace {

double largest_error(const Tensor<double>& got, const Tensor<double>& expected) {
  EXPECT_EQ(got.shape(), expected.shape());
  double most = 0;
  for (std::int64_t n = 0; n < got.count(); ++n) {
    const double error = std::abs(got.data()[n] - expected.data()[n]);
    if (!(error <= most)) most = error;  // NaN stays
  }
  return most;
}

// A loss that is linear in the output: the sum of dout times it.
double loss(const reference::Attention& call, const std::vector<double>& sinks,
            const Tensor<double>& dout) {
  const auto forward = reference::attention_gradient<long double>(call, sinks, dout);
  long double sum = 0;
  for (std::int64_t n = 0; n < dout.count(); ++n) {
    sum += static_cast<long double>(forward.output.data()[n]) * dout.data()[n];
  }
  return static_cast<double>(sum);
}

// The derivative of f(x) by x's element at `at`; its error is h^2 / 6 times the third derivative,
// and 2^-53 f / h of rounding: with h = 2^-17 and values of size 1, both below 1e-10 times what
// the sums of up to 50 terms in a loss amplify.
template <class F>
double central_difference(double& at, F&& f) {
  constexpr double kStep = 0x1p-17;
  const double before = at;
  at = before + kStep;
  const double above = f();
  at = before - kStep;
  const double below = f();
  at = before;
  return (above - below) / (2 * kStep);
}
constexpr double kDifferenceTolerance = 2e-8;

TEST(AttentionGradientOracle, AgreesWithCentralDifferences) {
  CaseSizes sizes;
  sizes.most_batch = 2;
  sizes.most_length = 4;
  sizes.most_head_dim = 4;
  sizes.most_v_dim = 3;
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NumpyRandom random(seed);
    BackwardCase<double> call;
    random_case(call, random, sizes);
    auto& expected = call.expected;
    const auto& dout = call.dout.dense;
    const auto gradient = reference::attention_gradient<double>(expected, call.sinks, dout);
    const auto f = [&] { return loss(expected, call.sinks, dout); };
    const auto compare = [&](Tensor<double>& x, const Tensor<double>& dx, const char* what) {
      for (std::int64_t n = 0; n < x.count(); ++n) {
        ASSERT_NEAR(central_difference(x.data()[n], f), dx.data()[n], kDifferenceTolerance)
            << what << n;
      }
    };
    ASSERT_NO_FATAL_FAILURE(compare(expected.q, gradient.q, "q "));
    ASSERT_NO_FATAL_FAILURE(compare(expected.k, gradient.k, "k "));
    ASSERT_NO_FATAL_FAILURE(compare(expected.v, gradient.v, "v "));
    const auto added = expected.added;
    each_index(gradient.added.shape(), [&](const auto& pair, std::int64_t n) {
      double step = 0;
      expected.added = [&](auto b, auto h, auto i, auto j) {
        const bool here = b == pair[0] && h == pair[1] && i == pair[2] && j == pair[3];
        return added(b, h, i, j) + (here ? step : 0);
      };
      EXPECT_NEAR(central_difference(step, f), gradient.added.data()[n], kDifferenceTolerance);
    });
    expected.added = added;
    for (std::size_t h = 0; h < call.sinks.size(); ++h) {
      if (std::isinf(call.sinks[h])) continue;
      double sum = 0;
      for (std::int64_t b = 0; b < call.batch(); ++b) {
        sum += gradient.sinks(b, static_cast<std::int64_t>(h));
      }
      EXPECT_NEAR(central_difference(call.sinks[h], f), sum, kDifferenceTolerance);
    }
  }
}

TEST(AttentionBackward, AgreesWithCentralDifferencesOfAttention) {
  CaseSizes sizes;
  sizes.most_batch = 2;
  sizes.most_length = 4;
  sizes.most_head_dim = 4;
  sizes.most_v_dim = 3;
  for (std::uint32_t seed = 100; seed < 125; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NumpyRandom random(seed);
    BackwardCase<double> call;
    random_case(call, random, sizes);
    // Dense inputs, every one an element of its own.
    Tensor<double> q = call.q.dense.clone(), k = call.k.dense.clone(), v = call.v.dense.clone();
    const auto& dout = call.dout.dense;
    Tensor<double> mask = call.float_mask.dense.clone();
    if (call.options.mask.index() == 2) call.options.mask = FloatMask<double>(mask);
    Tensor<double> out(dout.shape());
    const auto f = [&] {
      attention(q, k, v, out, call.options);
      double sum = 0;
      for (std::int64_t n = 0; n < out.count(); ++n) sum += out.data()[n] * dout.data()[n];
      return sum;
    };
    f();
    CaseGradients<double> gradients(call, random);
    attention_backward<double>(q, k, v, out, dout, gradients.views, call.options);
    const auto compare = [&](auto&& x, const View<double>& view, const char* what) {
      const auto dx = copy_of(View<const double>(view));
      for (std::int64_t n = 0; n < dx.count(); ++n) {
        double& at = x.data()[n];
        if (std::isinf(at)) continue;
        ASSERT_NEAR(central_difference(at, f), dx.data()[n], kDifferenceTolerance) << what << n;
      }
    };
    ASSERT_NO_FATAL_FAILURE(compare(q, gradients.views.q, "q "));
    ASSERT_NO_FATAL_FAILURE(compare(k, gradients.views.k, "k "));
    ASSERT_NO_FATAL_FAILURE(compare(v, gradients.views.v, "v "));
    if (!call.slopes.empty()) compare(call.slopes, gradients.views.slopes, "slope ");
    if (!call.sinks.empty()) compare(call.sinks, gradients.views.sinks, "sink ");
    if (call.options.mask.index() == 2) compare(mask, gradients.views.mask, "mask ");
  }
}

template <class T>
class AttentionBackwardOracle : public ::testing::Test {
 protected:
  // Everything beside the elements of a gradient must still be NaN.
  template <class E>
  static void expect_gaps(const Strided<E>& gradient, const char* what) {
    if constexpr (sizeof(E) == 2) return;  // 16-bit buffers have no NaN in their gaps
    std::int64_t gaps = 0;
    for (const E& element : gradient.buffer.span()) {
      gaps += std::isnan(static_cast<double>(element)) ? 1 : 0;
    }
    EXPECT_EQ(gaps, gradient.buffer.count() - gradient.dense.count()) << what;
  }

  static void check(std::uint32_t seed, const CaseSizes& sizes) {
    constexpr double kEps = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
    using Exact = std::conditional_t<std::is_same_v<T, double>, long double, double>;
    constexpr double kStored = std::is_same_v<T, float16>    ? 0x1p-11
                               : std::is_same_v<T, bfloat16> ? 0x1p-8
                                                             : kEps;
    SCOPED_TRACE("seed " + std::to_string(seed));
    NumpyRandom random(seed);
    BackwardCase<T> call;
    random_case(call, random, sizes);
    CaseGradients<T> gradients(call, random);
    run_backward(call, gradients, chance(random, 0.5));
    const ExpectedGradients expected(
        call, reference::attention_gradient<Exact>(call.expected, call.sinks,
                                                   widened<T>(call.dout.dense)));
    const Tolerances tolerances(call.expected, widened<T>(call.dout.dense), kEps, kStored);
    const auto near = [&](const auto& got, const Tensor<double>& want, double tolerance,
                          double stored, const char* what) {
      using Element = std::remove_reference_t<decltype(*got.view.data())>;
      EXPECT_LE(largest_error(widened<Element>(got.view), want),
                tolerance + stored * largest(want) + 1e-30)
          << what;
      expect_gaps(got, what);
    };
    const double bias_error = tolerances.added;
    near(gradients.q, expected.q, tolerances.q, kStored, "q");
    near(gradients.k, expected.k, tolerances.k, kStored, "k");
    near(gradients.v, expected.v, tolerances.v, kStored, "v");
    const double reach = 3 * static_cast<double>(sizes.most_length);
    if (expected.bias.count() > 0) near(gradients.bias, expected.bias, bias_error, kEps, "bias");
    if (expected.slopes.count() > 0)
      near(gradients.slopes, expected.slopes, reach * bias_error, kEps, "slopes");
    if (expected.mask.count() > 0) near(gradients.mask, expected.mask, bias_error, kEps, "mask");
    if (expected.sinks.count() > 0)
      near(gradients.sinks, expected.sinks, bias_error, kEps, "sinks");
  }
};
using Elements = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(AttentionBackwardOracle, Elements);

TYPED_TEST(AttentionBackwardOracle, AgreesOnRandomShapesLayoutsAndOptions) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) this->check(seed, {});
}

// Lengths around the kernels' blocks of 64 and 128, wide heads.
// float64 has no blocks.
template <class T>
class AttentionBackwardBlocks : public AttentionBackwardOracle<T> {};
using InBlocks = ::testing::Types<float, float16, bfloat16>;
TYPED_TEST_SUITE(AttentionBackwardBlocks, InBlocks);

TYPED_TEST(AttentionBackwardBlocks, AgreeWithTheOracleAcrossTheirEdges) {
  CaseSizes sizes;
  sizes.most_batch = 2;
  sizes.most_group = 2;
  sizes.most_length = 300;
  sizes.most_head_dim = 70;
  sizes.most_v_dim = 70;
  const std::uint32_t cases = std::is_same_v<TypeParam, float> ? 10 : 3;
  for (std::uint32_t seed = 1; seed <= cases; ++seed) this->check(seed, sizes);
}

// Sums of squares of errors, ours and those of the formulas done plainly in float32.
struct ErrorTally {
  double ours = 0, plain = 0;

  void add(const Tensor<double>& got, const Tensor<double>& plainly, const Tensor<double>& exact) {
    const auto square = [](double error) { return error * error; };
    for (std::int64_t n = 0; n < exact.count(); ++n) {
      ours += square(got.data()[n] - exact.data()[n]);
      plain += square(plainly.data()[n] - exact.data()[n]);
    }
  }
};

// Scores of a few, of hundreds, of ten thousands.
class AttentionBackwardErrorOf : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Magnitudes, AttentionBackwardErrorOf, ::testing::Values(1, 5, 60));

TEST_P(AttentionBackwardErrorOf, Float32IsAtMostTwiceThatOfThePlainFormula) {
  ErrorTally q, k, v, bias, slopes, mask, sinks;
  CaseSizes sizes;
  sizes.most_batch = 2;
  sizes.most_group = 2;
  sizes.most_length = 70;
  sizes.most_head_dim = 16;
  sizes.most_v_dim = 16;
  sizes.magnitude = GetParam();
  sizes.chance_of_one = 0.8;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    NumpyRandom random(seed);
    BackwardCase<float> call;
    random_case(call, random, sizes);
    CaseGradients<float> gradients(call, random);
    run_backward(call, gradients, seed % 2 == 0);
    const auto dout = widened<float>(call.dout.dense);
    const ExpectedGradients exact(
        call, reference::attention_gradient<double>(call.expected, call.sinks, dout));
    const ExpectedGradients plain(
        call, reference::attention_gradient<float>(call.expected, call.sinks, dout));
    q.add(widened<float>(gradients.q.view), plain.q, exact.q);
    k.add(widened<float>(gradients.k.view), plain.k, exact.k);
    v.add(widened<float>(gradients.v.view), plain.v, exact.v);
    if (exact.bias.count() > 0)
      bias.add(widened<float>(gradients.bias.view), plain.bias, exact.bias);
    if (exact.slopes.count() > 0)
      slopes.add(widened<float>(gradients.slopes.view), plain.slopes, exact.slopes);
    if (exact.mask.count() > 0)
      mask.add(widened<float>(gradients.mask.view), plain.mask, exact.mask);
    if (exact.sinks.count() > 0)
      sinks.add(widened<float>(gradients.sinks.view), plain.sinks, exact.sinks);
  }
  const auto expect_close = [](const ErrorTally& tally, const char* what) {
    EXPECT_GT(tally.plain, 0) << what;
    EXPECT_LE(std::sqrt(tally.ours), 2 * std::sqrt(tally.plain)) << what;
  };
  expect_close(q, "q");
  expect_close(k, "k");
  expect_close(v, "v");
  expect_close(bias, "bias");
  expect_close(slopes, "slopes");
  expect_close(mask, "mask");
  expect_close(sinks, "sinks");
}

}  // namespace
}  // namespace sextant
