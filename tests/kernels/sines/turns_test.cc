// Wide numbers and exact angles against MPFR.
#include "kernels/sines/turns.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>

#include "kernels/sines/sine_table.h"
#include "sextant/core/dtype.h"

namespace sextant {
namespace {

// MPFR numbers of 600 bits that clean up after themselves.
struct Number {
  mpfr_t x;
  Number() { mpfr_init2(x, 600); }
  ~Number() { mpfr_clear(x); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
};

void set(Number& to, const WideFloat& from) {
  Number part;
  mpfr_set_zero(to.x, 1);
  for (int i = 0; i < WideFloat::kLimbs; ++i) {
    mpfr_set_ui(part.x, from.limbs()[static_cast<std::size_t>(i)], MPFR_RNDN);
    mpfr_mul_2si(part.x, part.x, 64 * (i - WideFloat::kLimbs) + static_cast<long>(from.exponent()),
                 MPFR_RNDN);
    mpfr_add(to.x, to.x, part.x, MPFR_RNDN);
  }
  if (from.is_negative()) mpfr_neg(to.x, to.x, MPFR_RNDN);
}

// log2 of |a - b| / |b|.
double relative_bits(Number& a, Number& b) {
  mpfr_sub(a.x, a.x, b.x, MPFR_RNDN);
  mpfr_div(a.x, a.x, b.x, MPFR_RNDN);
  return mpfr_zero_p(a.x) ? -1000 : static_cast<double>(mpfr_get_exp(a.x));
}

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

TEST(Turns, SinesAndCosinesAreGoodTo98Bits) {
  std::mt19937_64 random(3);
  Number frequency;
  Number angle;
  Number sine;
  Number cosine;
  Number got;
  double worst = -1000;
  for (int i = 0; i < 4000; ++i) {
    const WideFloat radians = exp(WideFloat(std::uniform_real_distribution<>(-60, 20)(random)) / 3);
    set(frequency, radians);
    const Turns turns = turns_of(radians);
    SineAndCosine value;
    if (i % 2 == 0) {
      const std::uint64_t shift = 11 + random() % 53;
      auto position = static_cast<std::int64_t>(random() >> shift);
      if (random() % 2 == 0) position = -position;
      value = sine_and_cosine(turns, position);
      mpfr_set_si(angle.x, static_cast<long>(position), MPFR_RNDN);
    } else {
      const double fraction = std::uniform_real_distribution<>(-1, 1)(random);
      const double position = std::ldexp(fraction, static_cast<int>(random() % 150) - 50);
      value = sine_and_cosine(turns, position);
      mpfr_set_d(angle.x, position, MPFR_RNDN);
    }
    if (mpfr_zero_p(angle.x)) continue;
    mpfr_mul(angle.x, angle.x, frequency.x, MPFR_RNDN);
    mpfr_sin_cos(sine.x, cosine.x, angle.x, MPFR_RNDN);
    for (const bool of_cosine : {false, true}) {
      const DoubleDouble part = of_cosine ? value.cos : value.sin;
      mpfr_set_d(got.x, part.hi, MPFR_RNDN);
      mpfr_add_d(got.x, got.x, part.lo, MPFR_RNDN);
      worst = std::max(worst, relative_bits(got, of_cosine ? cosine : sine));
    }
  }
  EXPECT_LE(worst, -98);
}

TEST(Turns, PositionZeroAndFrequencyZeroAreExact) {
  for (const SineAndCosine value : {sine_and_cosine(turns_of(WideFloat(1.0)), std::int64_t{0}),
                                    sine_and_cosine(turns_of(WideFloat(1.0)), 0.0),
                                    sine_and_cosine(turns_of(WideFloat(0.0)), std::int64_t{5})}) {
    EXPECT_EQ(value.sin.hi, 0);
    EXPECT_EQ(value.cos.hi, 1);
  }
}

TEST(RoundTo, SeesTheLowHalfAtAMidpoint) {
  // 1 + 2^-24 is halfway between two float32; the low half decides.
  constexpr double kHalfway = 1 + 0x1p-24;
  EXPECT_EQ(round_to<float>({kHalfway, 0x1p-80}), 1 + 0x1p-23F);
  EXPECT_EQ(round_to<float>({kHalfway, -0x1p-80}), 1.0F);
  EXPECT_EQ(round_to<float>({-kHalfway, 0x1p-80}), -1.0F);
  EXPECT_EQ(round_to<float>({kHalfway, 0}), 1.0F);  // to even
  EXPECT_EQ(round_to<double>({kHalfway, 0x1p-80}), kHalfway);
  EXPECT_EQ(static_cast<float>(round_to<bfloat16>({1 + 0x1p-8, 0x1p-80})), 1 + 0x1p-7F);
  EXPECT_EQ(static_cast<float>(round_to<float16>({1 + 0x1p-11, -0x1p-80})), 1.0F);
}

}  // namespace
}  // namespace sextant
