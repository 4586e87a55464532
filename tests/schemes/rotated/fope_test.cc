// FoPE: the paper's series in many digits, which frequencies are left out, where training starts,
// and gradients against finite differences.
#include "sextant/schemes/rotated/fope.h"

#include <numbers>
#include <utility>
#include <variant>

#include "schemes/rotated/rotation_checks.h"
#include "sextant/core/random.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

using checks::Real;

FopeWeights random_weights(std::int64_t heads, std::int64_t count) {
  NumpyRandom random(3);
  FopeWeights weights{Tensor<double>({heads, count, count}), Tensor<double>({heads, count, count})};
  for (double& value : weights.cos_coef.span()) value = random.normal();
  for (double& value : weights.sin_coef.span()) value = random.normal();
  return weights;
}

FopeWeights identities(std::int64_t heads, std::int64_t count) {
  FopeWeights weights{Tensor<double>({heads, count, count}), Tensor<double>({heads, count, count})};
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t k = 0; k < count; ++k) {
      weights.cos_coef(h, k, k) = weights.sin_coef(h, k, k) = 1;
    }
  }
  return weights;
}

// Section 4 of the paper, from its formulas: the sum over the frequencies that complete a period.
struct Series {
  Real sum;
  double magnitude = 0;  // of its coefficients
};
Series series(const Tensor<double>& coefficients, std::int64_t head, std::int64_t pair,
              const checks::Frequencies& theta, std::int64_t position, bool cosine) {
  Series series;
  for (std::int64_t j = 0; j < coefficients.size(1); ++j) {
    const Real angle = Real(static_cast<double>(position)) * theta[static_cast<std::size_t>(j)];
    const double a = coefficients(head, j, pair);
    series.sum = series.sum + Real(a) * (cosine ? cos(angle) : sin(angle));
    series.magnitude += std::fabs(a);
  }
  return series;
}

TEST(Fope, TablesAreTheSeriesOfThePaper) {
  const Fope options{.head_dim = 16, .base = 100, .train_length = 64};
  const checks::Frequencies theta = checks::ladder(100, 16);
  const std::int64_t count = fope_frequencies(options);
  ASSERT_EQ(count, 5);  // 100^(-8/16) = 0.1 is above 2 pi / 64, 100^(-10/16) = 0.056 below it
  const FopeWeights weights = random_weights(3, count);
  const std::vector<std::int64_t> positions = checks::some_positions();
  const RotationTable<double> wide = fope<double>(options, weights, positions);
  const RotationTable<float> table = fope<float>(options, weights, positions);
  ASSERT_EQ(wide.cos.shape(), Shape({3, 13, 8}));
  ASSERT_EQ(wide.sin.shape(), wide.cos.shape());
  for (std::int64_t h = 0; h < 3; ++h) {
    for (std::int64_t row = 0; row < 13; ++row) {
      const std::int64_t p = positions[static_cast<std::size_t>(row)];
      for (std::int64_t k = 0; k < 8; ++k) {
        if (k >= count) {
          EXPECT_EQ(wide.cos(h, row, k), 1);
          EXPECT_EQ(wide.sin(h, row, k), 0);
          continue;
        }
        for (const bool cosine : {true, false}) {
          const Tensor<double>& matrix = cosine ? weights.cos_coef : weights.sin_coef;
          const Series wanted = series(matrix, h, k, theta, p, cosine);
          const double got = (cosine ? wide.cos : wide.sin)(h, row, k);
          // A rounded wave and a product each, then as many sums as there are frequencies.
          EXPECT_NEAR((wanted.sum - Real(got)).to_double(), 0,
                      static_cast<double>(count + 1) * 0x1p-53 * wanted.magnitude)
              << h << " " << p << " " << k;
          EXPECT_EQ((cosine ? table.cos : table.sin)(h, row, k), static_cast<float>(got));
        }
      }
    }
  }
}

TEST(Fope, IdentitiesGiveRotaryWithoutLongWavelengths) {
  const std::int64_t positions[] = {9, 0, 1000};
  for (const Precision precision : {Precision::exact, Precision::framework}) {
    const Fope options{.head_dim = 20,
                       .rotary_dim = 16,
                       .layout = RotaryLayout::interleaved,
                       .span = RotarySpan::last,
                       .precision = precision,
                       .train_length = 256};
    const std::int64_t count = fope_frequencies(options);
    const auto table = fope<float>(options, identities(2, count), positions);
    const auto plain = rotary<float>({.head_dim = 20,
                                      .rotary_dim = 16,
                                      .layout = RotaryLayout::interleaved,
                                      .span = RotarySpan::last,
                                      .precision = precision},
                                     positions);
    EXPECT_EQ(table.first_channel, 4);
    EXPECT_EQ(table.layout, RotaryLayout::interleaved);
    EXPECT_EQ(table.positions, plain.positions);
    for (std::int64_t row = 0; row < 3; ++row) {
      for (std::int64_t k = 0; k < 8; ++k) {
        EXPECT_EQ(table.cos(1, row, k), k < count ? plain.cos(row, k) : 1);
        EXPECT_EQ(table.sin(1, row, k), k < count ? plain.sin(row, k) : 0);
      }
    }
  }
}

// Pair k is kept if a period, 2 pi base^(2k / n), is not longer than the training texts.
TEST(Fope, FrequenciesOfAFullPeriodAreKept) {
  EXPECT_EQ(fope_frequencies({.head_dim = 128, .train_length = 512}), 31);
  EXPECT_EQ(fope_frequencies({.head_dim = 4, .base = 2, .train_length = 7}), 1);  // 2 pi = 6.28
  EXPECT_EQ(fope_frequencies({.head_dim = 4, .base = 2, .train_length = 8}), 1);  // 8.886
  EXPECT_EQ(fope_frequencies({.head_dim = 4, .base = 2, .train_length = 9}), 2);
  EXPECT_EQ(fope_frequencies({.head_dim = 8, .base = 0.5, .train_length = 7}), 4);
  const RotationFrequencies f = rotation_frequencies(Fope{.head_dim = 4, .train_length = 512});
  EXPECT_EQ(f.inv_freq, (std::vector<double>{1, 0}));
  EXPECT_EQ(f.attention_factor, 1);
}

TEST(Fope, FrameworkPrecisionRoundsCoefficientsWavesAndSums) {
  const Fope options{.head_dim = 4, .base = 10, .precision = Precision::framework};
  const FopeWeights weights = random_weights(1, 2);
  const std::int64_t positions[] = {300};
  const auto table = fope<double>(options, weights, positions);
  const auto plain =
      rotary<float>({.head_dim = 4, .base = 10, .precision = Precision::framework}, positions);
  double sum = 0;
  for (std::int64_t j = 0; j < 2; ++j) {
    sum += static_cast<double>(plain.sin(0, j)) *
           static_cast<double>(static_cast<float>(weights.sin_coef(0, j, 1)));
  }
  EXPECT_EQ(table.sin(0, 0, 1), static_cast<double>(static_cast<float>(sum)));
}

// Glorot's deviation with the fans of torch for [heads, f, f]: f f and heads f.
TEST(Fope, TrainingStartsNearRotary) {
  const Fope options{.head_dim = 128, .gain = 0.4};
  const FopeWeights weights = fope_weights(options, 8, 7);
  ASSERT_EQ(weights.cos_coef.shape(), Shape({8, 31, 31}));
  ASSERT_EQ(weights.sin_coef.shape(), weights.cos_coef.shape());
  const double deviation = 0.4 * std::sqrt(2.0 / (31 * (31 + 8)));
  double squares = 0;
  for (const Tensor<double>* each : {&weights.cos_coef, &weights.sin_coef}) {
    for (std::int64_t i = 0; i < each->count(); ++i) {
      const double rest = each->data()[i] - (i / 31 % 31 == i % 31 ? 1 : 0);
      squares += rest * rest;
    }
  }
  const double count = 2.0 * 8 * 31 * 31;
  // The variance of 15376 numbers is off by sqrt(2 / 15376) = 0.0114 of it; five times that.
  EXPECT_NEAR(squares / count, deviation * deviation, 0.057 * deviation * deviation);
  EXPECT_NE(weights.cos_coef(0, 0, 1), weights.sin_coef(0, 0, 1));
  const FopeWeights none = fope_weights({.head_dim = 128, .gain = 0}, 1);
  EXPECT_EQ(none.sin_coef(0, 5, 5), 1);
  EXPECT_EQ(none.sin_coef(0, 5, 6), 0);
}

// A table is linear in its coefficients, so differences of any step have the roundings alone.
TEST(Fope, GradientsAreThoseOfDifferences) {
  const Fope options{.head_dim = 12, .base = 50, .train_length = 32};
  const std::int64_t count = fope_frequencies(options);
  ASSERT_EQ(count, 3);
  FopeWeights weights = random_weights(2, count);
  const std::int64_t positions[] = {0, 5, 31, 700};
  Tensor<double> gradient({2, 2, 4, 6});
  for (std::int64_t i = 0; i < gradient.count(); ++i) {
    gradient.data()[i] = std::cos(static_cast<double>(3 * i));
  }
  const auto loss = [&] {
    const auto table = fope<double>(options, weights, positions);
    double sum = 0;
    for (std::int64_t i = 0; i < table.cos.count(); ++i) {
      sum += gradient.data()[i] * table.cos.data()[i] +
             gradient.data()[table.cos.count() + i] * table.sin.data()[i];
    }
    return sum;
  };
  const FopeWeights got = fope_backward(options, weights, gradient.view(), positions);
  for (const bool cosine : {true, false}) {
    Tensor<double>& matrix = cosine ? weights.cos_coef : weights.sin_coef;
    const Tensor<double>& slope = cosine ? got.cos_coef : got.sin_coef;
    ASSERT_EQ(slope.shape(), matrix.shape());
    for (std::int64_t i = 0; i < matrix.count(); ++i) {
      const double here = matrix.data()[i];
      matrix.data()[i] = here + 0.5;
      const double above = loss();
      matrix.data()[i] = here - 0.5;
      const double below = loss();
      matrix.data()[i] = here;
      // 96 products below 8, whose sums take as many roundings, twice.
      EXPECT_NEAR(slope.data()[i], above - below, 2 * 96 * 96 * 8 * 0x1p-53);
    }
  }
}

TEST(Fope, TheSchemeMakesTheTableOfItsWeights) {
  const Scheme& scheme = find_scheme("fope");
  const std::int64_t positions[] = {0, 3, 90};
  const SchemeRequest asked{.heads = 3,
                            .head_dim = 16,
                            .positions = positions,
                            .parameters = {{"train_length", "64"}, {"seed", "5"}, {"gain", "2"}}};
  const SchemeTable made = scheme.make(asked);
  const auto& table = std::get<RotationTable<double>>(made);
  const Fope options{.head_dim = 16, .train_length = 64, .gain = 2};
  const auto wanted = fope<double>(options, fope_weights(options, 3, 5), positions);
  for (std::int64_t i = 0; i < table.cos.count(); ++i) {
    EXPECT_EQ(table.cos.data()[i], wanted.cos.data()[i]);
    EXPECT_EQ(table.sin.data()[i], wanted.sin.data()[i]);
  }
  const Tensor<double> ones({2, 3, 3, 8});
  EXPECT_EQ(scheme.backward(asked, ones.view()).at("sin_coef").shape(),
            scheme.initial_weights(asked).at("sin_coef").shape());
}

TEST(Fope, NamesTheArgumentAtFault) {
  const std::int64_t positions[] = {0, 1};
  const Fope options{.head_dim = 8, .base = 100};
  ASSERT_EQ(fope_frequencies(options), 4);
  const auto wrong = [&](const char* name, const Fope& asked, const FopeWeights& weights) {
    expect_error(std::string("fope.") + name, [&] { fope<float>(asked, weights, positions); });
  };
  wrong("train_length", {.head_dim = 8, .train_length = 6}, identities(1, 4));
  wrong("gain", {.head_dim = 8, .gain = -1}, identities(1, 4));
  wrong("head_dim", {.head_dim = 7}, identities(1, 3));
  wrong("cos_coef", options, identities(2, 3));
  FopeWeights weights = identities(2, 4);
  weights.sin_coef = identities(1, 4).sin_coef;
  wrong("sin_coef", options, weights);
  weights = identities(2, 4);
  weights.sin_coef(1, 2, 3) = NAN;
  wrong("sin_coef", options, weights);
  expect_error("fope.heads", [&] { fope_weights(options, 0); });
  expect_error("fope.positions", [&] {
    const std::int64_t beyond[] = {(std::int64_t{1} << 53) + 1};
    fope<float>(options, identities(1, 4), beyond);
  });
  expect_error("fope.gradient", [&] {
    fope_backward(options, identities(1, 4), Tensor<double>({2, 1, 3, 4}), positions);
  });
}

}  // namespace
}  // namespace sextant
