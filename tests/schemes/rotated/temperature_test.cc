// Temperature: printed values, queries only.
#include "sextant/schemes/rotated/temperature.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

using checks::Real;

TEST(Temperature, IsAsPrinted) {
  const std::int64_t positions[] = {0, 8190, 8191, 16383, 131071};
  const double printed[] = {1, 1, 1.0693147, 1.1098612, 1.2833213};
  for (const Precision precision : {Precision::exact, Precision::framework}) {
    const RotationTable<double> table =
        temperature<double>({.head_dim = 6, .precision = precision}, positions);
    ASSERT_EQ(table.cos.shape(), Shape({5, 3}));
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t k = 0; k < 3; ++k) {
        // Eight digits; float32 has as many.
        EXPECT_NEAR(table.cos(i, k), printed[i], 1.2e-7);
        EXPECT_EQ(table.sin(i, k), 0);
        EXPECT_EQ(table.for_keys().cos(i, k), 1);
        EXPECT_EQ(table.for_keys().sin(i, k), 0);
      }
    }
  }
}

// Su 2021: 1 within the training texts, ln(p + 1) / ln(train_length) beyond.
TEST(Temperature, LogNGrowsBeyondTheTrainingTexts) {
  const std::int64_t last = std::int64_t{1} << 53;
  const std::int64_t positions[] = {0, 1, 510, 511, 512, 513, 2047, 262143, last - 1, last};
  const Temperature options{.head_dim = 2,
                            .scale = {.growth = QueryGrowth::log_n, .train_length = 512}};
  const RotationTable<double> wide = temperature<double>(options, positions);
  const RotationTable<float> table = temperature<float>(options, positions);
  for (std::int64_t i = 0; i < 10; ++i) {
    const Real tau = positions[i] < 512
                         ? Real(1)
                         : log(Real(static_cast<double>(positions[i])) + Real(1)) / log(Real(512));
    // Two logarithms and a quotient, each within a unit of the result's last place; a unit in the
    // last place of the argument at 2^53 is far below that.
    EXPECT_LE(tau.ulps_off(wide.cos(i, 0)), 4) << positions[i];
    EXPECT_LE(tau.ulps_off(table.cos(i, 0)), 0.5001) << positions[i];
    EXPECT_EQ(wide.sin(i, 0), 0);
    EXPECT_EQ(table.for_keys().cos(i, 0), 1);
  }
  EXPECT_EQ(wide.cos(3, 0), 1);
  EXPECT_GT(wide.cos(4, 0), 1);
  EXPECT_NEAR(wide.cos(7, 0), 2, 4 * 0x1p-52);  // 512^2 tokens
}

// Qwen 1: [math.log(i, seq_length) if i > seq_length else 1 for i in range(1, 32768)] in float32.
TEST(Temperature, LogNInFrameworkArithmeticIsRoundedToFloat32) {
  const RotationTable<double> table =
      temperature<double>({.head_dim = 2,
                           .scale = {.growth = QueryGrowth::log_n, .train_length = 2048},
                           .precision = Precision::framework},
                          8192);
  for (std::int64_t p = 0; p < 8192; ++p) {
    const double quotient = std::log(static_cast<double>(p + 1)) / std::log(2048.0);
    EXPECT_EQ(table.cos(p, 0), static_cast<double>(p < 2048 ? 1.0F : static_cast<float>(quotient)));
  }
}

TEST(Temperature, MultipliesEveryChannelOfQueries) {
  Tensor<double> x({1, 1, 1, 8});
  for (std::int64_t c = 0; c < 8; ++c) x.data()[c] = static_cast<double>(c + 1);
  const std::int64_t position[] = {100};
  const RotationTable<double> table =
      temperature<double>({.head_dim = 8, .scale = {.attn_scale = 1, .floor_scale = 1}}, position);
  rotate<double>(x, x, table);
  const double tau = 1 + std::log(102.0);
  for (std::int64_t c = 0; c < 8; ++c) {
    EXPECT_NEAR(x.data()[c], static_cast<double>(c + 1) * tau, 8 * 8 * 0x1p-52);
  }
}

TEST(Temperature, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Temperature options) {
    if (options.head_dim == 0) options.head_dim = 8;
    expect_error(std::string("temperature.") + name, [&] { temperature<float>(options, 1); });
  };
  wrong("head_dim", {.head_dim = 5});
  wrong("attn_scale", {.scale = {.attn_scale = -1}});
  wrong("attn_scale", {.scale = {.attn_scale = NAN}});
  wrong("floor_scale", {.scale = {.floor_scale = 0}});
  wrong("train_length", {.scale = {.growth = QueryGrowth::log_n, .train_length = 1}});
  wrong("growth", {.scale = {.growth = static_cast<QueryGrowth>(2)}});
  expect_error("temperature.length", [] { temperature<float>({.head_dim = 8}, -1); });
  const std::int64_t before[] = {-1};
  expect_error("temperature.positions", [&] { temperature<float>({.head_dim = 8}, before); });
}

}  // namespace
}  // namespace sextant
