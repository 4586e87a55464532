// Llama 3.1's scaling against the formula at 400 bits and printed frequencies.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant::rotary_llama3_test {
namespace {

using checks::expect_printed;
using checks::Real;

// As the paper's code has it: by wavelengths.
checks::Frequencies scaled(const Rotary& options, std::int64_t dim) {
  const auto& o = std::get<Llama3Scaling>(options.scaling);
  checks::Frequencies theta = checks::ladder(options.base, dim);
  const Real length(static_cast<double>(o.original_length));
  for (Real& f : theta) {
    const Real wavelength = Real(2) * Real::pi() / f;
    if (wavelength > length / o.low_freq_factor) {
      f = f / o.factor;
    } else if (!(wavelength < length / o.high_freq_factor)) {
      const Real u = (length / wavelength - o.low_freq_factor) /
                     (Real(o.high_freq_factor) - o.low_freq_factor);
      f = (Real(1) - u) * f / o.factor + u * f;
    }
  }
  return theta;
}

TEST(RotaryLlama3, TablesAreTrue) {
  const auto positions = checks::some_positions();
  for (const Rotary& options : {Rotary{.head_dim = 128, .base = 500000, .scaling = Llama3Scaling{}},
                                Rotary{.head_dim = 64,
                                .base = 10000,
                                .scaling = Llama3Scaling{.factor = 32, .original_length = 2048}}}) {
    checks::expect_true(rotary(options, positions), positions, scaled(options, options.head_dim));
  }
}

TEST(RotaryLlama3, GivesThePrintedFrequenciesOfLlama31) {
  const auto f =
      rotation_frequencies(Rotary{.head_dim = 128, .base = 500000, .scaling = Llama3Scaling{}})
          .inv_freq;
  const auto plain = rotation_frequencies(Rotary{.head_dim = 128, .base = 500000}).inv_freq;
  for (std::size_t k = 0; k <= 28; ++k) EXPECT_EQ(f[k], plain[k]);
  for (std::size_t k = 29; k <= 34; ++k) EXPECT_TRUE(f[k] < plain[k] && f[k] > plain[k] / 8) << k;
  for (std::size_t k = 35; k <= 63; ++k) EXPECT_EQ(f[k], plain[k] / 8);  // exact: a power of two
  expect_printed(plain[29], 0.00261609925, 9);
  expect_printed(f[29], 0.00216657076, 9);
  expect_printed(f[30], 0.00137189357, 9);
  expect_printed(f[34], 0.000178507813, 9);
  expect_printed(f[63], 3.06892599e-07, 9);
}

TEST(RotaryLlama3, GivesThePrintedFrequenciesOfLlama32) {
  const auto f = rotation_frequencies(
                     Rotary{.head_dim = 64, .base = 500000, .scaling = Llama3Scaling{.factor = 32}})
                     .inv_freq;
  expect_printed(std::vector{f[14], f[15], f[16], f[17], f[18], f[31]},
                 std::vector{0.00321144599, 0.00129054793, 0.000429556797, 9.7082878e-05,
                             1.94616382e-05, 9.41830673e-08},
                 8);
}

// The values of Hugging Face's own test, printed with five digits.
TEST(RotaryLlama3, AgreesWithTheSnapshotOfHuggingFace) {
  for (const Precision precision : {Precision::exact, Precision::framework}) {
    const auto f =
        rotation_frequencies(Rotary{.head_dim = 128,
                                    .base = 10000,
                                    .scaling = Llama3Scaling{.factor = 10, .original_length = 2048},
                                    .precision = precision})
            .inv_freq;
    expect_printed(std::vector{f[31], f[35], f[40]},
                   std::vector{1.0730e-02, 2.8248e-03, 3.4539e-04}, 5);
  }
}

TEST(RotaryLlama3, EqualFactorsAreAStep) {
  for (const Precision precision : {Precision::exact, Precision::framework}) {
    const Rotary scout{
        .head_dim = 128,
        .base = 500000,
        .scaling = Llama3Scaling{.factor = 16, .low_freq_factor = 1, .high_freq_factor = 1},
        .precision = precision};
    const auto f = rotation_frequencies(scout).inv_freq;
    const auto plain =
        rotation_frequencies(Rotary{.head_dim = 128, .base = 500000, .precision = precision})
            .inv_freq;
    for (std::size_t k = 0; k < 64; ++k) {
      const bool slow = 8192 * plain[k] < 2 * 3.14159265358979;
      EXPECT_EQ(f[k], slow ? plain[k] / 16 : plain[k]) << k;
    }
  }
}

TEST(RotaryLlama3, FrameworkPrecisionStaysNearTheTruth) {
  const auto exact =
      rotation_frequencies(Rotary{.head_dim = 128, .base = 500000, .scaling = Llama3Scaling{}})
          .inv_freq;
  const auto near = rotation_frequencies(Rotary{.head_dim = 128,
                                                .base = 500000,
                                                .scaling = Llama3Scaling{},
                                                .precision = Precision::framework})
                        .inv_freq;
  for (std::size_t k = 0; k < 64; ++k) {
    // A dozen roundings of float32, none of them amplified more than 4 times by the blend.
    EXPECT_NEAR(near[k] / exact[k], 1, 48 * 0x1p-24) << k;
  }
}

TEST(RotaryLlama3, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Rotary options) {
    options.head_dim = 8;
    expect_error(std::string("rotary_llama3.") + name, [&] { rotary<float>(options, 1); });
  };
  wrong("factor", {.base = 500000, .scaling = Llama3Scaling{.factor = 0}});
  wrong("factor", {.base = 500000, .scaling = Llama3Scaling{.factor = HUGE_VAL}});
  wrong("low_freq_factor", {.base = 500000, .scaling = Llama3Scaling{.low_freq_factor = 0}});
  wrong("high_freq_factor", {.base = 500000, .scaling = Llama3Scaling{.high_freq_factor = 0.5}});
  wrong("high_freq_factor", {.base = 500000, .scaling = Llama3Scaling{.high_freq_factor = NAN}});
  wrong("original_length", {.base = 500000, .scaling = Llama3Scaling{.original_length = 0}});
}

}  // namespace
}  // namespace sextant::rotary_llama3_test
