// Exact angles against MPFR.
#include "kernels/sines/turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/sines/sine_table.h"
#include "reference/mpfr_number.h"
#include "sextant/core/dtype.h"

namespace sextant::kernels {
namespace {

using reference::Number;
using reference::relative_bits;
using reference::set;

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
}  // namespace sextant::kernels
