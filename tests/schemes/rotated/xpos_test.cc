// xPos: printed factors, true tables of queries and keys, and scores by the distance.
#include "sextant/schemes/rotated/xpos.h"

#include <numeric>

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

using checks::expect_printed;
using checks::Real;

TEST(Xpos, FactorsAreAsPrinted) {
  expect_printed(xpos_zeta({.head_dim = 8}),
                 std::vector{0.28571429, 0.46428571, 0.64285714, 0.82142857});
  const std::int64_t positions[] = {5};
  const RotationTable<double> table = xpos<double>({.head_dim = 8}, positions);
  const double printed[] = {0.98784052, 0.99253527, 0.99569452, 0.99808084};
  for (std::int64_t k = 0; k < 4; ++k) {
    expect_printed(std::hypot(table.cos(0, k), table.sin(0, k)), printed[k]);
  }
}

// In units in the last place, of both tables in every so many rows.
double worst_error(const Xpos& options, const std::vector<std::int64_t>& positions,
                   std::size_t every = 1) {
  const RotationTable<float> table = xpos<float>(options, positions);
  const checks::Frequencies theta = checks::ladder(10000, options.head_dim);
  double worst = 0;
  for (std::size_t i = 0; i < positions.size(); i += every) {
    const auto p = static_cast<double>(positions[i]);
    const auto row = static_cast<std::int64_t>(i);
    for (std::int64_t k = 0; k < options.head_dim / 2; ++k) {
      const auto n = static_cast<double>(options.head_dim);
      const Real gamma(options.gamma);
      const Real zeta = (Real(2.0 * static_cast<double>(k)) + gamma * n) / ((gamma + 1) * n);
      const Real rho =
          pow(zeta, Real(p - static_cast<double>(options.center)) / Real(options.scale_base));
      const Real angle = Real(p) * theta[static_cast<std::size_t>(k)];
      worst = std::max({worst, (rho * sin(angle)).ulps_off(table.sin(row, k)),
                        (rho * cos(angle)).ulps_off(table.cos(row, k)),
                        (sin(angle) / rho).ulps_off(table.keys->sin(row, k)),
                        (cos(angle) / rho).ulps_off(table.keys->cos(row, k))});
    }
  }
  return worst;
}

TEST(Xpos, TablesOfQueriesAndKeysAreTrue) {
  const RotationTable<float> table = xpos<float>({.head_dim = 32}, 1);
  ASSERT_NE(table.keys, nullptr);
  EXPECT_EQ(table.layout, RotaryLayout::interleaved);
  EXPECT_EQ(table.keys->layout, RotaryLayout::interleaved);
  const std::vector<std::int64_t> positions = {0,    1,     63,    64,    65, 512,
                                               1000, 20000, 20001, 30000, -5, -4000};
  EXPECT_LE(worst_error({.head_dim = 32, .gamma = 0.5, .center = 512}, positions), 0.5001);
}

TEST(Xpos, LongTablesAreTrue) {
  std::vector<std::int64_t> positions(70000);  // more blocks than one chain of products has
  std::iota(positions.begin(), positions.end(), -35000);
  EXPECT_LE(worst_error({.head_dim = 2}, positions, 97), 0.5001);
}

TEST(Xpos, DecaysWithinAFewPositions) {
  // 18 powers of two a position: 64 positions are beyond the range of float64.
  const std::vector<std::int64_t> positions = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_LE(worst_error({.head_dim = 4, .scale_base = 0.1, .center = 3}, positions), 0.5001);
  // To 2^1014 in 63 positions: the product of the last two would overflow in its halves.
  const Xpos far{.head_dim = 2, .scale_base = 0.06696, .gamma = 0.9, .center = 63};
  const RotationTable<double> wide = xpos<double>(far, 127);
  const Real zeta = Real(0.9) / (Real(0.9) + 1);
  for (const std::int64_t row : {0, 1, 62, 64, 100, 126}) {
    const Real rho = pow(zeta, Real(static_cast<double>(row - 63)) / Real(far.scale_base));
    EXPECT_LE((rho * cos(Real(static_cast<double>(row)))).ulps_off(wide.cos(row, 0)), 2);
    EXPECT_LE((cos(Real(static_cast<double>(row))) / rho).ulps_off(wide.keys->cos(row, 0)), 2);
  }
}

TEST(Xpos, ScoresDependOnTheDistanceOnlyWhateverTheCenter) {
  double scores[3];
  for (int i = 0; i < 3; ++i) {
    const std::int64_t query[] = {i == 0 ? 40 : 3040};
    const std::int64_t key[] = {i == 0 ? 17 : 3017};
    const Xpos options{.head_dim = 16, .center = i == 2 ? 2000 : 0};
    Tensor<double> q({1, 1, 1, 16});
    Tensor<double> k({1, 1, 1, 16});
    for (std::int64_t c = 0; c < 16; ++c) {
      q.data()[c] = std::sin(static_cast<double>(c + 1));
      k.data()[c] = std::cos(static_cast<double>(c + 1));
    }
    rotate<double>(q, q, xpos<double>(options, query));
    rotate<double>(k, k, xpos<double>(options, key).for_keys());
    scores[i] = 0;
    for (std::int64_t c = 0; c < 16; ++c) scores[i] += q.data()[c] * k.data()[c];
  }
  // 16 products of numbers up to rho(3017) = 1600, each off by a few units in the last place.
  EXPECT_NEAR(scores[0], scores[1], 16 * 16 * 0x1p-53);
  EXPECT_NEAR(scores[0], scores[2], 16 * 16 * 0x1p-53);
}

TEST(Xpos, LongTablesEqualListedPositions) {
  const RotationTable<float> table = xpos<float>({.head_dim = 16}, 3000);
  const std::int64_t positions[] = {0, 1023, 1024, 2048, 2999};
  const RotationTable<float> listed = xpos<float>({.head_dim = 16}, positions);
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t k = 0; k < 8; ++k) {
      EXPECT_EQ(listed.cos(i, k), table.cos(positions[i], k));
      EXPECT_EQ(listed.keys->sin(i, k), table.keys->sin(positions[i], k));
    }
  }
}

TEST(Xpos, FrameworkPrecisionStaysNearTheTruth) {
  const RotationTable<float> exact = xpos<float>({.head_dim = 16}, 1000);
  const RotationTable<float> near =
      xpos<float>({.head_dim = 16, .precision = Precision::framework}, 1000);
  for (std::int64_t k = 0; k < 8; ++k) {
    // Angles up to 999 are off by 2^-15, powers of zeta by a few units.
    EXPECT_NEAR(near.cos(999, k), exact.cos(999, k), 0x1p-14);
    EXPECT_NEAR(near.keys->cos(999, k), exact.keys->cos(999, k), 12 * 0x1p-14);
  }
}

TEST(Xpos, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Xpos options) {
    options.head_dim = 8;
    expect_error(std::string("xpos.") + name, [&] { xpos<float>(options, 1); });
  };
  wrong("scale_base", {.scale_base = 0});
  wrong("gamma", {.gamma = 0});
  wrong("gamma", {.gamma = HUGE_VAL});
  wrong("center", {.center = std::int64_t{1} << 54});
  wrong("positions", {.center = 40000});
  const std::int64_t far[] = {0, 36000};
  expect_error("xpos.positions", [&] { xpos<float>({.head_dim = 8}, far); });
  expect_error("xpos.positions", [] { xpos<float16>({.head_dim = 8}, 5000); });
  EXPECT_NO_THROW(xpos<double>({.head_dim = 8}, far));
}

}  // namespace
}  // namespace sextant
