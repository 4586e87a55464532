// exp2 and softcap on every instruction set, against float64.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd/processor_state.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/exp2_test.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/simd/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

void exp2_of(const float* x, std::size_t count, float* y) {
  const hn::ScalableTag<float> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(exp2(d, hn::LoadU(d, x + i)), d, y + i);
  }
}

void softcap_of(const float* x, std::size_t count, float cap, float* y) {
  const hn::ScalableTag<float> d;
  const auto rate = hn::Set(d, 2 * 1.44269504F / cap);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(softcap(d, hn::LoadU(d, x + i), hn::Set(d, cap), rate), d, y + i);
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {
namespace {

HWY_EXPORT(exp2_of);
HWY_EXPORT(softcap_of);

// Runs body(x) for each instruction set this processor has.
template <class Body>
void on_every_target(const Body& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    const DenormalsOff denormals_off;
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

std::vector<float> exp2_on_target(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  HWY_DYNAMIC_DISPATCH(exp2_of)(x.data(), x.size(), y.data());
  return y;
}

TEST(Exp2, IsWithinFourUnitsOfTheTruth) {
  std::vector<float> x;
  for (int i = 0; i < 1 << 20; ++i) {
    x.push_back(-125.99F + static_cast<float>(i) * (150.0F / (1 << 20)));
  }
  on_every_target([&] {
    const auto y = exp2_on_target(x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double truth = std::exp2(static_cast<double>(x[i]));
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) / truth - 1));
    }
    // The polynomial is off by 9.2e-8 at most; its last three operations round numbers around 1 by
    // 2^-24 each, in the worst case all the same way.
    EXPECT_LT(worst, 9.2e-8 + 3 * 0x1p-24);
    EXPECT_GT(worst, 0);
  });
}

TEST(Exp2, IsExactWhereSoftmaxNeedsIt) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  on_every_target([&] {
    std::vector<float> x{0,    -0.0F, 1,      -1,         24,
                         -126, -150,  -1e30F, -kInfinity, std::numeric_limits<float>::lowest()};
    x.resize(16);
    const auto y = exp2_on_target(x);
    const std::vector<float> expected{1, 1, 2, 0.5F, 0x1p24F, 0x1p-126F, 0, 0, 0, 0};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(y[i], expected[i]) << x[i];
  });
}

TEST(Exp2, KeepsNan) {
  on_every_target([&] {
    const auto y = exp2_on_target(std::vector<float>(16, std::nanf("")));
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
  });
}

TEST(Softcap, IsTheHyperbolicTangentAlsoOfSmallNumbers) {
  std::vector<float> x;
  for (int i = 0; i < 1 << 16; ++i) {
    const float magnitude = std::exp2(-30.0F + static_cast<float>(i) * (42.0F / (1 << 16)));
    x.push_back(i % 2 == 0 ? magnitude : -magnitude);
  }
  on_every_target([&] {
    for (const float cap : {0.5F, 30.0F, 50.0F}) {
      std::vector<float> y(x.size());
      HWY_DYNAMIC_DISPATCH(softcap_of)(x.data(), x.size(), cap, y.data());
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double wide = static_cast<double>(cap);
        const double truth = wide * std::tanh(static_cast<double>(x[i]) / wide);
        worst = std::max(worst, std::abs(static_cast<double>(y[i]) / truth - 1));
      }
      // Some ten roundings of 2^-24 around the polynomial's 1.1e-8, half of them to be felt at
      // once.
      EXPECT_LT(worst, 7e-7) << cap;
    }
  });
}

TEST(Softcap, IsTheCapAtInfinityAndKeepsNan) {
  on_every_target([&] {
    std::vector<float> x(16, std::numeric_limits<float>::infinity()), y(16);
    x[1] = -x[1];
    x[2] = std::nanf("");
    HWY_DYNAMIC_DISPATCH(softcap_of)(x.data(), x.size(), 20.0F, y.data());
    EXPECT_FLOAT_EQ(y[0], 20);
    EXPECT_FLOAT_EQ(y[1], -20);
    EXPECT_TRUE(std::isnan(y[2]));
  });
}

}  // namespace
}  // namespace sextant::kernels
#endif  // HWY_ONCE
