// Temperature: printed values, queries only.
#include "sextant/schemes/rotated/temperature.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

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
  expect_error("temperature.length", [] { temperature<float>({.head_dim = 8}, -1); });
  const std::int64_t before[] = {-1};
  expect_error("temperature.positions", [&] { temperature<float>({.head_dim = 8}, before); });
}

}  // namespace
}  // namespace sextant
