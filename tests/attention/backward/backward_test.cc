// Gradients against the oracle in wider arithmetic, the oracle against finite differences, and what
// hidden rows and keys may not do.
#include "sextant/attention/backward.h"

#include <gtest/gtest.h>

#include "attention/backward/backward_cases.h"
#include "attention/backward/gradient_errors.h"

namespace sextant::backward_test {
namespace {

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
  CaseSizes sizes{.most_batch = 2, .most_length = 4, .most_head_dim = 4, .most_v_dim = 3};
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
  CaseSizes sizes{.most_batch = 2, .most_length = 4, .most_head_dim = 4, .most_v_dim = 3};
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
    if (!call.bias.slopes.empty()) {
      compare(call.bias.slopes, gradients.views.bias.slopes, "slope ");
    }
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

  void check(std::uint32_t seed, const CaseSizes& sizes) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NumpyRandom random(seed);
    BackwardCase<T> call;
    random_case(call, random, sizes);
    CaseGradients<T> gradients(call, random);
    run_backward(call, gradients, chance(random, 0.5));
    const auto exact = gradients_in<typename Rounding<T>::Exact>(call);
    const auto plain = gradients_in<typename Rounding<T>::Plain>(call);
    const auto bound = gradients_in<reference::RoundingError>(call);
    const auto compare = [&](const char* name, const auto& got, const auto& truth,
                             const auto& yardstick, const auto& most) {
      using Element = std::remove_cvref_t<decltype(*got.view.data())>;
      if (truth.count() == 0) return;
      errors.compare<Element>(name, widened<Element>(got.view), truth, yardstick, most);
      expect_gaps(got, name);
    };
    compare("q", gradients.q, exact.q, plain.q, bound.q);
    compare("k", gradients.k, exact.k, plain.k, bound.k);
    compare("v", gradients.v, exact.v, plain.v, bound.v);
    compare("bias", gradients.bias, exact.bias, plain.bias, bound.bias);
    compare("slopes", gradients.slopes, exact.slopes, plain.slopes, bound.slopes);
    compare("mask", gradients.mask, exact.mask, plain.mask, bound.mask);
    compare("sinks", gradients.sinks, exact.sinks, plain.sinks, bound.sinks);
  }

  GradientErrors errors;
};
using Elements = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(AttentionBackwardOracle, Elements);

TYPED_TEST(AttentionBackwardOracle, AgreesOnRandomShapesLayoutsAndOptions) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) this->check(seed, {});
  this->errors.expect_small();
}

// Lengths around the kernels' blocks of 64 and 128, wide heads.
// float64 has no blocks.
template <class T>
class AttentionBackwardBlocks : public AttentionBackwardOracle<T> {};
using InBlocks = ::testing::Types<float, float16, bfloat16>;
TYPED_TEST_SUITE(AttentionBackwardBlocks, InBlocks);

TYPED_TEST(AttentionBackwardBlocks, AgreeWithTheOracleAcrossTheirEdges) {
  CaseSizes sizes{
      .most_batch = 2, .most_group = 2, .most_length = 300, .most_head_dim = 70, .most_v_dim = 70};
  const std::uint32_t cases = std::is_same_v<TypeParam, float> ? 10 : 3;
  for (std::uint32_t seed = 1; seed <= cases; ++seed) this->check(seed, sizes);
  this->errors.expect_small();
}

// More queries than a task has (128), so that tasks add to the same keys one after the other, and
// more keys.
TYPED_TEST(AttentionBackwardBlocks, AgreeWithTheOracleAcrossTasks) {
  CaseSizes sizes;
  sizes.most_batch = 1;
  sizes.most_group = 2;
  sizes.least_length = 257;
  sizes.most_length = 400;
  sizes.most_head_dim = 20;
  sizes.most_v_dim = 20;
  const std::uint32_t cases = std::is_same_v<TypeParam, float> ? 6 : 2;
  for (std::uint32_t seed = 1; seed <= cases; ++seed) this->check(seed, sizes);
  this->errors.expect_small();
}

// Scores of a few, of hundreds, of ten thousands.
class AttentionBackwardErrorOf : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Magnitudes, AttentionBackwardErrorOf, ::testing::Values(1, 5, 60));

TEST_P(AttentionBackwardErrorOf, Float32IsAtMostTwiceThatOfThePlainFormula) {
  GradientErrors errors;
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
    const auto exact = gradients_in<double>(call);
    const auto plain = gradients_in<float>(call);
    const auto compare = [&](const char* name, const auto& got, const auto& truth,
                             const auto& yardstick) {
      if (truth.count() > 0) errors.tally(name, widened<float>(got.view), truth, yardstick);
    };
    compare("q", gradients.q, exact.q, plain.q);
    compare("k", gradients.k, exact.k, plain.k);
    compare("v", gradients.v, exact.v, plain.v);
    compare("bias", gradients.bias, exact.bias, plain.bias);
    compare("slopes", gradients.slopes, exact.slopes, plain.slopes);
    compare("mask", gradients.mask, exact.mask, plain.mask);
    compare("sinks", gradients.sinks, exact.sinks, plain.sinks);
  }
  errors.expect_small();
}

}  // namespace
}  // namespace sextant::backward_test
