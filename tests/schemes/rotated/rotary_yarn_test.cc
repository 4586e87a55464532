// YaRN against its formulas at 400 bits, printed frequencies and amplitudes.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant::rotary_yarn_test {
namespace {

using checks::expect_printed;
using checks::Real;

Real clip(const Real& x) { return x < 0 ? Real(0) : x > 1 ? Real(1) : x; }

// The released form, from the paper's code; the paper's form, from its section 3.2.
checks::Frequencies scaled(const Rotary& options, std::int64_t dim) {
  const auto& o = std::get<YarnScaling>(options.scaling);
  checks::Frequencies theta = checks::ladder(options.base, dim);
  const Real length(static_cast<double>(o.original_length));
  const Real d(static_cast<double>(dim));
  const auto corr = [&](double turns) {
    return d * log(length / (Real(2) * Real::pi() * turns)) / (Real(2) * log(Real(options.base)));
  };
  Real low = o.truncate ? floor(corr(o.beta_fast)) : corr(o.beta_fast);
  Real high = o.truncate ? ceil(corr(o.beta_slow)) : corr(o.beta_slow);
  if (low < 0) low = 0;
  if (high > d - 1) high = d - 1;
  if (low == high) high = high + Real(1) / 1000;
  for (std::size_t k = 0; k < theta.size(); ++k) {
    Real ramp = clip((Real(static_cast<double>(k)) - low) / (high - low));
    if (o.form == YarnForm::paper) {
      const Real turns = length * theta[k] / (Real(2) * Real::pi());
      ramp = Real(1) - clip((turns - o.beta_slow) / (Real(o.beta_fast) - o.beta_slow));
    }
    theta[k] = theta[k] / o.factor * ramp + theta[k] * (Real(1) - ramp);
  }
  return theta;
}

TEST(RotaryYarn, TablesAreTrue) {
  const auto positions = checks::some_positions();
  for (const Rotary& options :
       {Rotary{.head_dim = 128, .base = 1e6, .scaling = YarnScaling{.original_length = 32768}},
        Rotary{.head_dim = 64,
        .base = 150000,
        .scaling = YarnScaling{.factor = 32, .truncate = false}},
        Rotary{.head_dim = 64, .scaling = YarnScaling{.factor = 3, .form = YarnForm::paper}},
        Rotary{.head_dim = 64,
        .scaling = YarnScaling{.factor = 10, .original_length = 64, .attention_factor = 0.3}},
        Rotary{.head_dim = 32, .scaling = YarnScaling{.factor = 2, .original_length = 3}}}) {
    checks::expect_true(rotary(options, positions), positions, scaled(options, options.head_dim),
                        yarn_attention_factor(std::get<YarnScaling>(options.scaling)));
  }
}

TEST(RotaryYarn, GivesTheFrequenciesOfTheSmallCase) {
  Rotary options{.head_dim = 16, .scaling = YarnScaling{.original_length = 2048}};
  expect_printed(rotation_frequencies(options).inv_freq,
                 std::vector{1.0, 0.31622777, 0.1, 0.025693506, 0.00625, 0.0013834965, 0.00025,
                             7.9056942e-05});
  std::get<YarnScaling>(options.scaling).form = YarnForm::paper;
  expect_printed(rotation_frequencies(options).inv_freq,
                 std::vector{1.0, 0.31622777, 0.1, 0.015026498, 0.0030466516, 0.0007929214, 0.00025,
                             7.9056942e-05});
}

TEST(RotaryYarn, GivesTheFrequenciesOfGptOss) {
  const auto f =
      rotation_frequencies(Rotary{.head_dim = 64,
                                  .base = 150000,
                                  .scaling = YarnScaling{.factor = 32, .truncate = false}})
          .inv_freq;
  expect_printed(
      std::vector{f[8], f[9], f[13], f[17], f[18]},
      std::vector{0.0508132748, 0.0317056962, 0.00386035932, 0.000129318701, 3.83088124e-05}, 9);
}

TEST(RotaryYarn, GivesTheFrequenciesOfDeepSeek) {
  const auto f =
      rotation_frequencies(
          Rotary{.head_dim = 192, .rotary_dim = 64, .scaling = YarnScaling{.factor = 40}})
          .inv_freq;
  expect_printed(std::vector{f[10], f[11], f[16], f[22], f[23]},
                 std::vector{0.0562341325, 0.0390069266, 0.0055, 0.000177827941, 3.33380358e-05},
                 9);
}

// The values of Hugging Face's own test, printed with five digits.
TEST(RotaryYarn, AgreesWithTheSnapshotOfHuggingFace) {
  for (const Precision precision : {Precision::exact, Precision::framework}) {
    const auto f =
        rotation_frequencies(Rotary{.head_dim = 128,
                                    .scaling = YarnScaling{.factor = 10, .original_length = 2048},
                                    .precision = precision})
            .inv_freq;
    expect_printed(std::vector{f[17], f[30], f[40]},
                   std::vector{8.3479e-02, 6.6143e-03, 4.3007e-04}, 5);
    const auto plain =
        rotation_frequencies(Rotary{.head_dim = 128, .precision = precision}).inv_freq;
    for (std::size_t k = 0; k <= 16; ++k) EXPECT_EQ(f[k], plain[k]) << k;
    EXPECT_LT(f[17], plain[17]);
    EXPECT_GT(f[40], plain[40] / 10);
    // 1 / (10 x) and (1 / x) / 10 differ by two roundings of float32.
    for (std::size_t k = 41; k < 64; ++k) EXPECT_NEAR(f[k] * 10 / plain[k], 1, 0x1p-22) << k;
  }
}

TEST(RotaryYarn, AmplitudesAreAsPrinted) {
  expect_printed(std::vector{yarn_mscale(4), yarn_mscale(16), yarn_mscale(32), yarn_mscale(40)},
                 std::vector{1.1386294, 1.2772589, 1.3465736, 1.3688879});
  EXPECT_EQ(yarn_mscale(1), 1);
  EXPECT_EQ(yarn_mscale(0.5), 1);
  EXPECT_EQ(yarn_attention_factor({.factor = 40}), yarn_mscale(40));
  EXPECT_EQ(yarn_attention_factor({.factor = 40, .mscale = 1, .mscale_all_dim = 1}), 1);
  EXPECT_EQ(yarn_attention_factor({.factor = 40, .mscale = 0.7}), yarn_mscale(40));
  expect_printed(yarn_attention_factor({.factor = 40, .mscale = 1, .mscale_all_dim = 0.707}),
                 1.3688879454113937 / 1.2608037774058553);
  EXPECT_EQ(yarn_attention_factor({.factor = 40, .attention_factor = 1.0}), 1);
  EXPECT_EQ(rotation_frequencies(Rotary{.head_dim = 8, .scaling = YarnScaling{.factor = 16}})
                .attention_factor,
            yarn_mscale(16));
}

TEST(RotaryYarn, DeepSeeksSoftmaxScaleIsAsPrinted) {
  expect_printed(yarn_softmax_scale(192, 40), 0.13523378);
  EXPECT_EQ(yarn_softmax_scale(64, 1), 0.125);
  expect_error("yarn_softmax_scale.head_dim", [] { yarn_softmax_scale(0, 40); });
  expect_error("yarn_softmax_scale.factor", [] { yarn_softmax_scale(64, 0); });
  expect_error("yarn_softmax_scale.mscale", [] { yarn_softmax_scale(64, 40, -1); });
}

TEST(RotaryYarn, TheLastChannelsTurnWhenAsked) {
  const RotationTable<float> table = rotary<float>(
      {.head_dim = 192, .rotary_dim = 64, .span = RotarySpan::last, .scaling = YarnScaling{}}, 3);
  EXPECT_EQ(table.first_channel, 128);
  EXPECT_EQ(table.cos.size(1), 32);
}

TEST(RotaryYarn, FrameworkTablesMultiplyTheAmplitudeInFloat32) {
  const Rotary options{
      .head_dim = 64, .scaling = YarnScaling{.factor = 16}, .precision = Precision::framework};
  const RotationTable<float> table = rotary<float>(options, 1000);
  const RotationFrequencies f = rotation_frequencies(options);
  const auto m = static_cast<float>(f.attention_factor);
  for (std::size_t k = 0; k < 32; ++k) {
    const auto angle = static_cast<double>(999 * static_cast<float>(f.inv_freq[k]));
    EXPECT_EQ(table.cos(999, static_cast<std::int64_t>(k)),
              static_cast<float>(std::cos(angle)) * m);
  }
}

TEST(RotaryYarn, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Rotary options) {
    options.head_dim = 8;
    expect_error(std::string("rotary_yarn.") + name, [&] { rotary<float>(options, 1); });
  };
  wrong("base", {.base = 1, .scaling = YarnScaling{}});
  wrong("factor", {.scaling = YarnScaling{.factor = 0}});
  wrong("original_length", {.scaling = YarnScaling{.original_length = 0}});
  wrong("beta_fast", {.scaling = YarnScaling{.beta_fast = 0.5}});
  wrong("beta_slow", {.scaling = YarnScaling{.beta_slow = 0}});
  wrong("attention_factor", {.scaling = YarnScaling{.attention_factor = 0.0}});
  wrong("mscale", {.scaling = YarnScaling{.mscale = -1}});
  wrong("mscale_all_dim", {.scaling = YarnScaling{.mscale_all_dim = NAN}});
  wrong("form", {.scaling = YarnScaling{.form = static_cast<YarnForm>(5)}});
}

}  // namespace
}  // namespace sextant::rotary_yarn_test
