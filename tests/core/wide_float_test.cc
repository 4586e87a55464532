// Wide numbers against MPFR.
#include "core/numbers/wide_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "reference/mpfr_number.h"

namespace sextant {
namespace {

using reference::Number;
using reference::relative_bits;
using reference::set;

TEST(WideFloat, ArithmeticIsGoodTo315Bits) {
  std::mt19937_64 random(1);
  Number a;
  Number b;
  Number expected;
  Number got;
  const WideFloat third = WideFloat(1.0) / 3;
  for (int i = 0; i < 2000; ++i) {
    const auto any = [&] {
      const double fraction = std::uniform_real_distribution<>(-1, 1)(random);
      return std::ldexp(fraction, static_cast<int>(random() % 200) - 100);
    };
    const WideFloat x = WideFloat(any()) * third;
    const double part = any();
    const WideFloat y = WideFloat(any()) * third + WideFloat(part);
    set(a, x);
    set(b, y);
    mpfr_mul(expected.x, a.x, b.x, MPFR_RNDN);
    set(got, x * y);
    EXPECT_LE(relative_bits(got, expected), -315);
    mpfr_add(expected.x, a.x, b.x, MPFR_RNDN);
    set(got, x + y);
    mpfr_sub(got.x, got.x, expected.x, MPFR_RNDN);
    const long largest = std::max(mpfr_get_exp(a.x), mpfr_get_exp(b.x));
    EXPECT_TRUE(mpfr_zero_p(got.x) || mpfr_get_exp(got.x) - largest <= -315);
    const std::uint64_t limit = std::uint64_t{1} << (1 + random() % 62);
    const std::uint64_t divisor = 1 + random() % limit;
    mpfr_div_ui(expected.x, a.x, divisor, MPFR_RNDN);
    set(got, x / divisor);
    EXPECT_LE(relative_bits(got, expected), -315);
    mpfr_ui_div(expected.x, 1, b.x, MPFR_RNDN);
    set(got, reciprocal(y));
    EXPECT_LE(relative_bits(got, expected), -300);
  }
}

TEST(WideFloat, EqualNumbersCancelToZero) {
  const WideFloat x = WideFloat(1.0) / 7;
  EXPECT_TRUE((x - x).is_zero());
  EXPECT_EQ((x - x).to_double(), 0);
  EXPECT_EQ((x + WideFloat(0.0)).to_double(), 1.0 / 7);
  EXPECT_EQ((-x).to_double(), -1.0 / 7);
}

TEST(WideFloat, ExpLogAndPiAreGoodTo280Bits) {
  std::mt19937_64 random(2);
  Number x;
  Number expected;
  Number got;
  for (int i = 0; i < 300; ++i) {
    const double value = std::exp(std::uniform_real_distribution<>(-700, 700)(random));
    mpfr_set_d(x.x, value, MPFR_RNDN);
    mpfr_log(expected.x, x.x, MPFR_RNDN);
    set(got, log(WideFloat(value)));
    EXPECT_LE(relative_bits(got, expected), -280) << value;
    const double power = std::uniform_real_distribution<>(-1400, 700)(random);
    mpfr_set_d(x.x, power, MPFR_RNDN);
    mpfr_exp(expected.x, x.x, MPFR_RNDN);
    set(got, exp(WideFloat(power)));
    EXPECT_LE(relative_bits(got, expected), -280) << power;
  }
  mpfr_const_pi(expected.x, MPFR_RNDN);
  set(got, wide_pi());
  EXPECT_LE(relative_bits(got, expected), -310);
}

}  // namespace
}  // namespace sextant
