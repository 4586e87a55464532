// xPos: printed factors, true tables of queries and keys, and scores by the distance.
#include "sextant/schemes/rotated/xpos.h"

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

TEST(Xpos, TablesOfQueriesAndKeysAreTrue) {
  const std::vector<std::int64_t> positions = {0, 1, 63, 64, 65, 1000, 20000, 20001, 30000, -5};
  const Xpos options{.head_dim = 32, .gamma = 0.5, .center = 512};
  const RotationTable<float> table = xpos<float>(options, positions);
  ASSERT_NE(table.keys, nullptr);
  EXPECT_EQ(table.layout, RotaryLayout::interleaved);
  EXPECT_EQ(table.keys->layout, RotaryLayout::interleaved);
  const checks::Frequencies theta = checks::ladder(10000, 32);
  double worst = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto p = static_cast<double>(positions[i]);
    const auto row = static_cast<std::int64_t>(i);
    for (std::int64_t k = 0; k < 16; ++k) {
      const Real zeta = (Real(2.0 * static_cast<double>(k)) + Real(0.5) * 32) / (Real(1.5) * 32);
      const Real rho = pow(zeta, (Real(p) - 512) / 512);
      const Real angle = Real(p) * theta[static_cast<std::size_t>(k)];
      worst = std::max({worst, (rho * sin(angle)).ulps_off(table.sin(row, k)),
                        (rho * cos(angle)).ulps_off(table.cos(row, k)),
                        (sin(angle) / rho).ulps_off(table.keys->sin(row, k)),
                        (cos(angle) / rho).ulps_off(table.keys->cos(row, k))});
    }
  }
  EXPECT_LE(worst, 0.5001);
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
