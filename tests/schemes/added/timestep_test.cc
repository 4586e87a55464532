// Diffusion timesteps: the catalogue's values, the truth by MPFR, and the forms that models use.
#include "sextant/schemes/added/timestep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/mpfr_sines.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::timestep_test {
namespace {

using ::testing::HasSubstr;

Timestep of_width(std::int64_t width) {
  Timestep options;
  options.width = width;
  return options;
}

// Printed to 8 significant digits: half a unit of the eighth.
void expect_printed(const Tensor<double>& row, const std::vector<double>& printed) {
  ASSERT_EQ(row.count(), static_cast<std::int64_t>(printed.size()));
  for (std::size_t i = 0; i < printed.size(); ++i) {
    EXPECT_NEAR(row.data()[i], printed[i], 5.1e-9 * std::max(0.1, std::fabs(printed[i]) * 10)) << i;
  }
}

TEST(Timestep, DefaultsAreThoseOfDiffusers) {
  const double time[] = {10.5};
  expect_printed(timestep<double>(of_width(8), time),
                 {-0.87969576, 0.46830092, 0.022619635, 0.0010499998, -0.47553693, 0.88356904,
                  0.99974414, 0.99999945});
}

TEST(Timestep, StableDiffusionFlipsAndDoesNotShift) {
  Timestep options = of_width(8);
  options.flip_sin_to_cos = true;
  options.downscale_freq_shift = 0;
  const double time[] = {10.5};
  expect_printed(timestep<double>(options, time),
                 {-0.47553693, 0.49757105, 0.99449256, 0.99994488, -0.87969576, 0.86742323,
                  0.10480717, 0.010499807});
}

TEST(Timestep, IsTheSinusoidalTableOfItsLadder) {
  const std::int64_t times[] = {0, 3, 999, -7, std::int64_t{1} << 40};
  for (const bool shifted : {false, true}) {
    for (const std::int64_t width : {4, 7, 10}) {
      Timestep options = of_width(width);
      options.flip_sin_to_cos = !shifted;
      options.downscale_freq_shift = shifted ? 1 : 0;
      Sinusoidal same;
      same.width = width;
      same.layout = shifted ? SinusoidalLayout::half_split : SinusoidalLayout::cos_first;
      same.ladder = shifted ? Ladder::d_half_minus_1 : Ladder::d;
      same.odd_width = OddWidth::zero_column;
      const Tensor<float> a = timestep<float>(options, times);
      const Tensor<float> b = sinusoidal<float>(same, times);
      for (std::int64_t i = 0; i < a.count(); ++i) EXPECT_EQ(a.data()[i], b.data()[i]) << width;
    }
  }
}

// The frequencies are good to far more bits than float32 has: only the rounding is left, and
// sinusoidal()'s 0.0001 for whole times.
TEST(Timestep, ValuesAreTheTrueOnesRoundedOnce) {
  Timestep options = of_width(64);
  options.downscale_freq_shift = 2;  // exponents k / 30
  options.max_period = 500;
  const std::int64_t whole[] = {1, 999, 123456789};
  const double real[] = {1.25, 999.9, -0.001};
  const Tensor<float> of_whole = timestep<float>(options, whole);
  const Tensor<float> of_real = timestep<float>(options, real);
  for (std::int64_t column = 0; column < 64; ++column) {
    reference::TrueSine truth(500, column % 32, 30, column >= 32);
    for (std::int64_t row = 0; row < 3; ++row) {
      EXPECT_LE(truth.ulps_off(of_whole(row, column), whole[row], reference::kFloat32), 0.5001);
      EXPECT_LE(truth.ulps_off(of_real(row, column), real[row], reference::kFloat32), 0.5001);
    }
  }
}

TEST(Timestep, AScaleMultipliesTheTimeAndMayTurnItBack) {
  Timestep scaled = of_width(12);
  scaled.scale = -1000;
  const double one[] = {0.375};
  const double thousand[] = {-375.0};
  const Tensor<double> a = timestep<double>(scaled, one);
  const Tensor<double> b = timestep<double>(of_width(12), thousand);
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(a.data()[i], b.data()[i]);
  scaled.scale = 0;
  const Tensor<double> still = timestep<double>(scaled, one);
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(still.data()[i], i < 6 ? 0 : 1);
}

TEST(Timestep, TheSchemeTakesItsParameters) {
  SchemeRequest request;
  const std::int64_t times[] = {5, 1, 700};
  request.width = 6;
  request.positions = times;
  request.parameters = {{"flip_sin_to_cos", "yes"},
                        {"downscale_freq_shift", "0.5"},
                        {"scale", "2"},
                        {"max_period", "100"}};
  const SchemeTable made = find_scheme("timestep").make(request);
  const auto& table = std::get<Tensor<double>>(made);
  ASSERT_EQ(table.shape(), Shape({3, 6}));
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t k = 0; k < 3; ++k) {
      // The double angle is good to some 4 roundings of up to 1400.
      const double angle =
          2.0 * static_cast<double>(times[row]) * std::pow(100, -static_cast<double>(k) / 2.5);
      EXPECT_NEAR(table(row, k), std::cos(angle), 1400 * 0x1p-50);
      EXPECT_NEAR(table(row, 3 + k), std::sin(angle), 1400 * 0x1p-50);
    }
  }
}

TEST(Timestep, RefusesWhatHasNoLadder) {
  const double time[] = {1};
  const auto error = [&](const Timestep& options) {
    return error_of([&] { timestep<float>(options, time); });
  };
  EXPECT_THAT(error(of_width(1)), HasSubstr("[timestep.width] must be 2 .. 2^30, got 1"));
  EXPECT_THAT(error(of_width(2)), HasSubstr("[timestep.downscale_freq_shift]"));
  Timestep options = of_width(8);
  options.downscale_freq_shift = NAN;
  EXPECT_THAT(error(options), HasSubstr("downscale_freq_shift"));
  options = of_width(8);
  options.scale = INFINITY;
  EXPECT_THAT(error(options), HasSubstr("[timestep.scale] must be finite"));
  options.scale = 1e30;
  EXPECT_THAT(error(options), HasSubstr("2^64"));
  options = of_width(8);
  options.max_period = 0;
  EXPECT_THAT(error(options), HasSubstr("[timestep.max_period]"));
  options.max_period = 1e-300;
  EXPECT_THAT(error(options), HasSubstr("2^64"));
  options = of_width(8);
  options.threads = -1;
  EXPECT_THAT(error(options), HasSubstr("[timestep.threads]"));
  const double bad[] = {NAN};
  EXPECT_THAT(error_of([&] { timestep<float>(of_width(8), bad); }), HasSubstr("[timestep.times]"));
  const std::int64_t far[] = {(std::int64_t{1} << 53) + 1};
  EXPECT_THAT(error_of([&] { timestep<float>(of_width(8), far); }), HasSubstr("2^53"));
}

}  // namespace
}  // namespace sextant::timestep_test
