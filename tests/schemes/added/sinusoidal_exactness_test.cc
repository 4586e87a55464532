// Sinusoidal tables against the true values by MPFR, in units in the last place.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "reference/sinusoidal.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::sinusoidal_exactness_test {
namespace {

using reference::TrueSine;

template <class T>
constexpr reference::Format kFormat = reference::kFloat32;
template <>
constexpr reference::Format kFormat<double> = reference::kFloat64;
template <>
constexpr reference::Format kFormat<float16> = reference::kFloat16;
template <>
constexpr reference::Format kFormat<bfloat16> = reference::kBfloat16;

constexpr std::int64_t kFar = std::int64_t{1} << 31;  // the farthest position promised

Sinusoidal random_options(std::mt19937_64& random) {
  Sinusoidal options;
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  options.width = 1 + below(700);
  options.layout = static_cast<SinusoidalLayout>(below(3));
  options.ladder = static_cast<Ladder>(below(2));
  if (options.ladder == Ladder::d_half_minus_1) options.width += 3;
  options.exponent = below(3) != 0 ? Exponent::standard : static_cast<Exponent>(below(3));
  if (below(2) == 0) options.odd_width = static_cast<OddWidth>(below(3));
  const double bases[] = {10000, 10000, 100, 500000, 1e6, 2, 1};
  options.base =
      below(2) == 0 ? bases[below(7)] : std::exp(std::uniform_real_distribution<>(-1, 25)(random));
  if (below(4) == 0) options.scale = std::uniform_real_distribution<>(-3, 3)(random);
  return options;
}

// The true columns of one table, made when first asked for.
class TrueTable {
 public:
  explicit TrueTable(const Sinusoidal& options) : options_(options) {}
  template <class Position>
  double ulps_off(double value, Position position, std::int64_t column, reference::Format format) {
    if (reference::column_of(options_, column).zero) return value == 0 ? 0 : HUGE_VAL;
    auto& truth = columns_[column];
    if (!truth) truth = reference::true_column(options_, column);
    return truth->ulps_off(value, position, format);
  }

 private:
  Sinusoidal options_;
  std::map<std::int64_t, std::unique_ptr<TrueSine>> columns_;
};

// The worst error over `tables` random tables: some rows in a row somewhere, some positions
// anywhere.
template <Floating T>
double worst_ulps(int tables, int samples, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  double worst = 0;
  for (int n = 0; n < tables; ++n) {
    Sinusoidal options = random_options(random);
    TrueTable truth(options);
    // Every magnitude of positions is as likely as any other.
    const auto position = [&] {
      const std::uint64_t limit = std::uint64_t{1} << (random() % 32);
      const auto magnitude = static_cast<std::int64_t>(random() % limit);
      return random() % 4 == 0 ? -magnitude : magnitude;
    };
    options.first = position();
    options.length = n % 8 == 0 ? 600 : 70;
    const Tensor<T> rows = sinusoidal<T>(options);
    std::vector<std::int64_t> positions = {0, 1, -1, kFar - 1, kFar, -kFar};
    while (positions.size() < 40) positions.push_back(position());
    const Tensor<T> picked = sinusoidal<T>(options, positions);
    for (int i = 0; i < samples; ++i) {
      const auto column =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(options.width));
      const auto row =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(options.length));
      worst = std::max(worst, truth.ulps_off(static_cast<double>(rows(row, column)),
                                             options.first + row, column, kFormat<T>));
      const std::size_t pick = random() % positions.size();
      worst = std::max(
          worst,
          truth.ulps_off(static_cast<double>(picked(static_cast<std::int64_t>(pick), column)),
                         positions[pick], column, kFormat<T>));
    }
  }
  return worst;
}

TEST(SinusoidalExact, Float32IsWithin0_5001UnitsOfTheTrueValue) {
  const double worst = worst_ulps<float>(200, 500, 11);
  std::printf("float32: 200000 samples, positions up to 2^31, worst error %.7f ulp\n", worst);
  EXPECT_LE(worst, 0.5001);
  EXPECT_GE(worst, 0.49);  // the measure itself works: many samples come close to a half
}

TEST(SinusoidalExact, NarrowTypesAreRoundedOnce) {
  const double half = worst_ulps<float16>(40, 250, 12);
  const double brain = worst_ulps<bfloat16>(40, 250, 13);
  std::printf("float16: worst error %.7f ulp, bfloat16: %.7f ulp\n", half, brain);
  EXPECT_LE(half, 0.5001);
  EXPECT_LE(brain, 0.5001);
}

TEST(SinusoidalExact, Float64IsWithin0_51Units) {
  const double worst = worst_ulps<double>(100, 250, 14);
  std::printf("float64: 50000 samples, worst error %.7f ulp\n", worst);
  EXPECT_LE(worst, 0.51);
}

// The hardest positions: those whose angle is closest to a zero, found by continued fractions, and
// their neighbours in one table, where the fast path has to notice them.
TEST(SinusoidalExact, HoldsNextToTheZeros) {
  double worst_float = 0;
  double worst_double = 0;
  double smallest = 1;
  for (const double base : {10000.0, 100.0, 500000.0, 1.0, 3.7}) {
    for (const SinusoidalLayout layout :
         {SinusoidalLayout::interleaved, SinusoidalLayout::half_split}) {
      Sinusoidal options{.length = 9, .width = 32, .base = base, .layout = layout};
      for (std::int64_t column = 0; column < options.width; ++column) {
        const auto truth = reference::true_column(options, column);
        for (const std::int64_t largest : {std::int64_t{100000}, kFar - 1}) {
          const std::int64_t zero = truth->nearest_zero(largest);
          options.first = zero - 4;
          const Tensor<float> rows = sinusoidal<float>(options);
          const Tensor<double> wide = sinusoidal<double>(options);
          for (std::int64_t i = 0; i < options.length; ++i) {
            worst_float =
                std::max(worst_float, truth->ulps_off(static_cast<double>(rows(i, column)),
                                                      options.first + i, reference::kFloat32));
            worst_double =
                std::max(worst_double,
                         truth->ulps_off(wide(i, column), options.first + i, reference::kFloat64));
          }
          smallest = std::min(smallest, std::fabs(wide(4, column)));
        }
      }
    }
  }
  std::printf("next to zeros (smallest value %.3g): float32 %.7f ulp, float64 %.7f ulp\n", smallest,
              worst_float, worst_double);
  EXPECT_LT(smallest, 1e-10);
  EXPECT_LE(worst_float, 0.5001);
  EXPECT_LE(worst_double, 0.51);
}

TEST(SinusoidalExact, RealPositionsAreRoundedOnceToo) {
  std::mt19937_64 random(15);
  double worst = 0;
  for (int n = 0; n < 20; ++n) {
    const Sinusoidal options = random_options(random);
    TrueTable truth(options);
    std::vector<double> positions = {0.0, 0.5, -10.5, 1e-300, 0x1p53, 2147483647.25};
    while (positions.size() < 40) {
      const double fraction = std::uniform_real_distribution<>(-1, 1)(random);
      positions.push_back(std::ldexp(fraction, static_cast<int>(random() % 60) - 28));
    }
    const Tensor<float> table = sinusoidal<float>(options, positions);
    for (int i = 0; i < 300; ++i) {
      const std::size_t row = random() % positions.size();
      const auto column =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(options.width));
      worst = std::max(
          worst, truth.ulps_off(static_cast<double>(table(static_cast<std::int64_t>(row), column)),
                                positions[row], column, reference::kFloat32));
    }
  }
  EXPECT_LE(worst, 0.5001);
}

TEST(SinusoidalExact, HoldsFarBeyondEveryLimitOfFloatAngles) {
  for (const std::int64_t first :
       {std::int64_t{1} << 53, -(std::int64_t{1} << 53), std::int64_t{1} << 40}) {
    const Sinusoidal options{.length = 1, .width = 8, .first = first};
    const Tensor<float> rows = sinusoidal<float>(options);
    const Tensor<double> wide = sinusoidal<double>(options);
    TrueTable truth(options);
    for (std::int64_t c = 0; c < 8; ++c) {
      EXPECT_LE(truth.ulps_off(static_cast<double>(rows(0, c)), first, c, reference::kFloat32),
                0.5001);
      EXPECT_LE(truth.ulps_off(wide(0, c), first, c, reference::kFloat64), 0.51);
    }
  }
}

// Extreme but legal options leave the fast path; small frequencies stay relative.
TEST(SinusoidalExact, HoldsForExtremeBasesAndScales) {
  const Sinusoidal cases[] = {{.length = 5, .width = 6, .base = 1e300, .first = 3},
                              {.length = 5, .width = 6, .base = 1e-18, .first = 3},
                              {.length = 5, .width = 6, .base = 1e30, .first = kFar - 2},
                              {.length = 5, .width = 6, .base = 100, .first = 3, .scale = 1e30},
                              {.length = 5, .width = 6, .base = 100, .first = -3, .scale = 1e-30}};
  for (const Sinusoidal& options : cases) {
    TrueTable truth(options);
    const Tensor<double> wide = sinusoidal<double>(options);
    const Tensor<float> rows = sinusoidal<float>(options);
    for (std::int64_t i = 0; i < options.length; ++i) {
      for (std::int64_t c = 0; c < options.width; ++c) {
        EXPECT_LE(truth.ulps_off(wide(i, c), options.first + i, c, reference::kFloat64), 0.51)
            << options.base;
        EXPECT_LE(truth.ulps_off(static_cast<double>(rows(i, c)), options.first + i, c,
                                 reference::kFloat32),
                  0.5001)
            << options.base;
      }
    }
  }
}

// So far apart that the exact rows of the multiples of 2^18 are not all kept.
TEST(SinusoidalExact, ScatteredPositionsHoldTheSameBitsAsSingleOnes) {
  Sinusoidal options{.length = 1, .width = 24};
  std::vector<std::int64_t> positions;
  for (std::int64_t i = -100; i < 100; ++i) positions.push_back(i * 1000003 * 77);
  const Tensor<float> scattered = sinusoidal<float>(options, positions);
  TrueTable truth(options);
  for (std::int64_t i = 0; i < 200; ++i) {
    options.first = positions[static_cast<std::size_t>(i)];
    const Tensor<float> row = sinusoidal<float>(options);
    ASSERT_EQ(std::memcmp(&scattered(i, 0), row.data(), 24 * sizeof(float)), 0);
    const std::int64_t c = i % 24;
    EXPECT_LE(truth.ulps_off(static_cast<double>(row(0, c)), options.first, c, reference::kFloat32),
              0.5001);
  }
}

// Large enough for stores past the caches, and several chunks of columns.
TEST(SinusoidalExact, LargeTablesHoldTheSameBitsAsSmallOnes) {
  Sinusoidal options{.length = 8200, .width = 1040, .base = 300};
  const Tensor<float> whole = sinusoidal<float>(options);
  TrueTable truth(options);
  double worst = 0;
  std::mt19937_64 random(16);
  for (int i = 0; i < 4000; ++i) {
    const auto row = static_cast<std::int64_t>(random() % 8200);
    const auto column = static_cast<std::int64_t>(random() % 1040);
    worst = std::max(worst, truth.ulps_off(static_cast<double>(whole(row, column)), row, column,
                                           reference::kFloat32));
  }
  EXPECT_LE(worst, 0.5001);
  options.length = 10;
  for (const std::int64_t first : {0, 60, 255, 4090, 8190}) {
    options.first = first;
    const Tensor<float> part = sinusoidal<float>(options);
    EXPECT_EQ(std::memcmp(&whole(first, 0), part.data(), 10 * 1040 * sizeof(float)), 0);
  }
}

}  // namespace
}  // namespace sextant::sinusoidal_exactness_test
