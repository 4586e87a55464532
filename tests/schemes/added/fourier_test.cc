// Fourier features: the catalogue's value, exact angles, gradients against differences.
#include "sextant/schemes/added/fourier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::fourier_test {
namespace {

using ::testing::HasSubstr;

Tensor<double> matrix(std::int64_t rows, std::vector<double> values) {
  Tensor<double> result({rows, static_cast<std::int64_t>(values.size()) / rows});
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

const long double kPi = std::numbers::pi_v<long double>;

TEST(Fourier, NerfGivesTheCataloguesValue) {
  const Tensor<double> row = nerf_features<double>(
      {.levels = 2, .pi = false, .input = FourierInput::first}, matrix(1, {0.5}));
  const double printed[] = {0.5, 0.47942554, 0.87758256, 0.84147098, 0.54030231};
  ASSERT_EQ(row.shape(), Shape({1, 5}));
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(row(0, i), printed[i], 5.1e-9);
}

TEST(Fourier, NerfTakesAllAxesBeforeTheNextFunction) {
  const Tensor<double> x = matrix(2, {0.3, -0.7, 1.25, 0.1, 0.9, -2.5});
  for (const bool pi : {false, true}) {
    const Tensor<double> table =
        nerf_features<double>({.levels = 4, .pi = pi, .input = FourierInput::first}, x);
    ASSERT_EQ(table.shape(), Shape({2, 27}));
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(table(row, axis), x(row, axis));
        for (std::int64_t l = 0; l < 4; ++l) {
          const long double angle =
              std::ldexp(static_cast<long double>(x(row, axis)), static_cast<int>(l)) *
              (pi ? kPi : 1.0L);
          // The angle of the reference, up to 63, is good to 2^-58; half a last place of the
          // result.
          EXPECT_NEAR(table(row, 3 + 6 * l + axis), static_cast<double>(std::sin(angle)), 0x1p-53);
          EXPECT_NEAR(table(row, 6 + 6 * l + axis), static_cast<double>(std::cos(angle)), 0x1p-53);
        }
      }
    }
  }
}

TEST(Fourier, WholeTurnsAreExact) {
  // 2^63 pi x is a whole number of turns for x = 1: libm's sine of the rounded product is not.
  const Tensor<double> table = nerf_features<double>(
      {.levels = 64, .pi = true, .input = FourierInput::none}, matrix(1, {1}));
  for (std::int64_t l = 1; l < 64; ++l) {
    EXPECT_EQ(table(0, 2 * l), 0);
    EXPECT_EQ(table(0, 2 * l + 1), 1);
  }
  const Tensor<float> far =
      fourier_features<float>(matrix(1, {0x1p53, 0.125}), matrix(2, {0x1p53 - 1, 1}));
  EXPECT_EQ(far(0, 0), static_cast<float>(std::cos(std::numbers::pi / 4)));
}

TEST(Fourier, BandsRunFromOneToHalfTheLargestFrequency) {
  const Tensor<double> x = matrix(1, {0.3, -0.9});
  const Tensor<double> table =
      band_features<double>({.bands = 3, .max_frequency = 10, .input = FourierInput::last}, x);
  ASSERT_EQ(table.shape(), Shape({1, 14}));
  const double frequencies[] = {1, 3, 5};
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    for (std::int64_t k = 0; k < 3; ++k) {
      const long double angle = kPi * frequencies[k] * x(0, axis);
      // frequency / 2 times x is kept to 2^-54 turns: 2 pi 2^-54 of angle, and the rounding.
      EXPECT_NEAR(table(0, 3 * axis + k), static_cast<double>(std::sin(angle)), 0x1p-50);
      EXPECT_NEAR(table(0, 6 + 3 * axis + k), static_cast<double>(std::cos(angle)), 0x1p-50);
    }
  }
  EXPECT_EQ(table(0, 12), 0.3);
  EXPECT_EQ(table(0, 13), -0.9);
}

TEST(Fourier, RandomFeaturesAreCosinesAndSinesOfProducts) {
  const Tensor<double> x = matrix(2, {0.3, -0.9, 12.5, 1e6});
  const Tensor<double> b = gaussian_frequencies(2, 5, 3, 11);
  const Tensor<double> table = fourier_features<double>(x, b);
  const Tensor<double> sam = fourier_features<double>(x, b, SinusoidalLayout::half_split);
  const Tensor<double> pairs = fourier_features<double>(x, b, SinusoidalLayout::interleaved);
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t k = 0; k < 5; ++k) {
      const long double turns = static_cast<long double>(x(row, 0)) * b(0, k) +
                                static_cast<long double>(x(row, 1)) * b(1, k);
      // The reference has 2^-63 of some 10^7 turns, ours 2^-53 turns.
      const double tolerance = 0x1p-63 * 1e7 * 7 + 0x1p-49;
      EXPECT_NEAR(table(row, k), static_cast<double>(std::cos(2 * kPi * turns)), tolerance);
      EXPECT_NEAR(table(row, 5 + k), static_cast<double>(std::sin(2 * kPi * turns)), tolerance);
      EXPECT_EQ(sam(row, k), table(row, 5 + k));
      EXPECT_EQ(sam(row, 5 + k), table(row, k));
      EXPECT_EQ(pairs(row, 2 * k), table(row, 5 + k));
      EXPECT_EQ(pairs(row, 2 * k + 1), table(row, k));
    }
  }
}

TEST(Fourier, RandomFrequenciesHaveTheirDeviation) {
  const Tensor<double> b = gaussian_frequencies(2, 5000, 7, 1);
  double squares = 0;
  for (const double x : b.span()) squares += x * x;
  // 10000 numbers: the deviation is known to 0.7 %, five of those.
  EXPECT_NEAR(std::sqrt(squares / 1e4), 7, 7 * 0.036);
}

TEST(Fourier, GradientsAreThoseOfDifferences) {
  const Tensor<double> x = matrix(3, {0.3, -0.9, 0.5, 0.25, -0.1, 0.8});
  Tensor<double> b = gaussian_frequencies(2, 3, 1, 2);
  Tensor<double> of_features({3, 6});
  for (std::int64_t i = 0; i < 18; ++i) of_features.data()[i] = std::sin(static_cast<double>(i));
  for (const SinusoidalLayout layout :
       {SinusoidalLayout::cos_first, SinusoidalLayout::half_split, SinusoidalLayout::interleaved}) {
    const auto loss = [&] {
      const Tensor<double> table = fourier_features<double>(x, b, layout);
      double sum = 0;
      for (std::int64_t i = 0; i < 18; ++i) sum += table.data()[i] * of_features.data()[i];
      return sum;
    };
    const Tensor<double> gradient = fourier_backward(x, b, layout, of_features);
    for (std::int64_t i = 0; i < 6; ++i) {
      const double kept = b.data()[i];
      const double h = 0x1p-17;
      b.data()[i] = kept + h;
      const double above = loss();
      b.data()[i] = kept - h;
      const double below = loss();
      b.data()[i] = kept;
      // Third derivatives are below (2 pi)^3 * 18: h^2 / 6 of that, and 2^-50 / h of roundings.
      EXPECT_NEAR(gradient.data()[i], (above - below) / (2 * h),
                  250 * 3 * h * h + 18 * 0x1p-51 / h);
    }
  }
}

TEST(FourierScheme, PutsIdsIntoTheMiddleOfTheirShare) {
  const std::int64_t ids[] = {3, 0};
  SchemeRequest request{.width = 4, .positions = ids, .parameters = {{"form", "nerf"}}};
  const auto table = std::get<Tensor<double>>(find_scheme("fourier").make(request));
  EXPECT_DOUBLE_EQ(table(0, 0), std::sin(0.75));  // (2 * 3 + 1) / 4 - 1
  EXPECT_DOUBLE_EQ(table(1, 1), std::cos(-0.75));
  request.parameters = {{"form", "bands"}, {"length", "8"}, {"input", "last"}};
  request.width = 5;
  const auto bands = std::get<Tensor<double>>(find_scheme("fourier").make(request));
  EXPECT_EQ(bands(0, 4), -0.125);
  EXPECT_NEAR(bands(0, 0), std::sin(-0.125 * std::numbers::pi), 0x1p-52);
  EXPECT_NEAR(bands(0, 1), std::sin(-0.625 * std::numbers::pi), 0x1p-52);
}

TEST(FourierScheme, LearnsItsFrequencies) {
  const std::int64_t ids[] = {0, 1, 2, 1, 1, 0};  // three rows of two axes
  SchemeRequest request{
      .width = 6, .positions = ids, .axes = 2, .parameters = {{"scale", "2"}, {"seed", "4"}}};
  const Scheme& fourier = find_scheme("fourier");
  SchemeWeights weights = fourier.initial_weights(request);
  ASSERT_EQ(weights.at("frequencies").shape(), Shape({2, 3}));
  const auto table = std::get<Tensor<double>>(fourier.make(request));
  request.weights = &weights;
  const auto same = std::get<Tensor<double>>(fourier.make(request));
  for (std::int64_t i = 0; i < table.count(); ++i) EXPECT_EQ(same.data()[i], table.data()[i]);
  Tensor<double> gradient({3, 6});
  for (double& g : gradient.span()) g = 1;
  const SchemeWeights back = fourier.backward(request, gradient);
  Tensor<double> plain = matrix(3, {0, 0, 0, 0, 0, 0});
  for (std::int64_t row = 0; row < 3; ++row) {
    plain(row, 0) = (2.0 * static_cast<double>(ids[2 * row]) + 1) / 3 - 1;
    plain(row, 1) = (2.0 * static_cast<double>(ids[2 * row + 1]) + 1) / 2 - 1;
  }
  const Tensor<double> direct =
      fourier_backward(plain, weights.at("frequencies"), SinusoidalLayout::cos_first, gradient);
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(back.at("frequencies").data()[i], direct.data()[i]);
  }
}

TEST(Fourier, RefusesWhatIsNoFeature) {
  const Tensor<double> x = matrix(1, {0.5});
  EXPECT_THAT(error_of([&] { nerf_features<float>({.levels = 0}, x); }), HasSubstr("1 .. 64"));
  EXPECT_THAT(error_of([&] { nerf_features<float>({}, matrix(1, {NAN})); }),
              HasSubstr("[fourier.coordinates]"));
  EXPECT_THAT(error_of([&] { band_features<float>({.bands = 0}, x); }), HasSubstr("bands"));
  EXPECT_THAT(error_of([&] { band_features<float>({.bands = 2, .max_frequency = NAN}, x); }),
              HasSubstr("max_frequency"));
  EXPECT_THAT(error_of([&] {
                fourier_features<float>(x, matrix(2, {1, 2}));
              }),
              HasSubstr("[fourier.frequencies] must have one row for each of the 1 axes"));
  EXPECT_THAT(error_of([&] {
                fourier_backward(x, matrix(1, {1}), SinusoidalLayout::cos_first, matrix(1, {1}));
              }),
              HasSubstr("[fourier.gradient] must be [1, 2]"));
  EXPECT_THAT(error_of([] { gaussian_frequencies(0, 2, 1, 0); }), HasSubstr("features"));
  EXPECT_THAT(error_of([] { gaussian_frequencies(1, 2, NAN, 0); }), HasSubstr("scale"));
  const std::int64_t ids[] = {0, 1};
  const auto error = [&](std::int64_t width, std::map<std::string, std::string> parameters) {
    SchemeRequest request{.width = width, .positions = ids, .parameters = std::move(parameters)};
    return error_of([&] { find_scheme("fourier").make(request); });
  };
  EXPECT_THAT(error(7, {}), HasSubstr("[fourier.width] must be a multiple of 2, got 7"));
  EXPECT_THAT(error(8, {{"form", "nerf"}, {"input", "first"}}), HasSubstr("and 1 more"));
  EXPECT_THAT(error(8, {{"form", "wave"}}), HasSubstr("[fourier.form]"));
  EXPECT_THAT(error(8, {{"input", "first"}}), HasSubstr("[fourier.input]"));
  EXPECT_THAT(error(8, {{"seed", "-1"}}), HasSubstr("[fourier.seed]"));
  EXPECT_THAT(error(8, {{"length", "0"}}), HasSubstr("[fourier.length]"));
}

}  // namespace
}  // namespace sextant::fourier_test
