// Linear interpolation: frequencies over one factor.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

TEST(RotaryLinear, TablesAreTrue) {
  const auto positions = checks::some_positions();
  for (const double factor : {8.0, 3.0, 0.7}) {
    checks::Frequencies theta = checks::ladder(500000, 64);
    for (auto& f : theta) f = f / factor;
    const Rotary options{
        .head_dim = 64, .base = 500000, .scaling = LinearScaling{.factor = factor}};
    checks::expect_true(rotary(options, positions), positions, theta);
  }
}

TEST(RotaryLinear, APositionTimesTheFactorIsThePlainPosition) {
  const std::int64_t near[] = {1, 7, 1000};
  const std::int64_t far[] = {8, 56, 8000};
  const RotationTable<float> plain = rotary<float>({.head_dim = 16}, near);
  const RotationTable<float> stretched =
      rotary<float>({.head_dim = 16, .scaling = LinearScaling{.factor = 8}}, far);
  for (std::int64_t i = 0; i < plain.cos.count(); ++i) {
    EXPECT_EQ(stretched.cos.data()[i], plain.cos.data()[i]);
    EXPECT_EQ(stretched.sin.data()[i], plain.sin.data()[i]);
  }
}

TEST(RotaryLinear, FrameworkPrecisionDividesInFloat32) {
  const Rotary options{
      .head_dim = 8, .scaling = LinearScaling{.factor = 3}, .precision = Precision::framework};
  const RotationFrequencies made = rotation_frequencies(options);
  const RotationTable<float> table = rotary<float>(options, 2000);
  for (std::int64_t k = 0; k < 4; ++k) {
    const float frequency = static_cast<float>(std::pow(10.0, -static_cast<double>(k))) / 3;
    EXPECT_EQ(made.inv_freq[static_cast<std::size_t>(k)], frequency);
    EXPECT_EQ(table.sin(1999, k),
              static_cast<float>(std::sin(static_cast<double>(1999 * frequency))));
  }
}

TEST(RotaryLinear, NamesTheOptionAtFault) {
  expect_error("rotary_linear.factor",
               [] { rotary<float>({.head_dim = 8, .scaling = LinearScaling{.factor = 0}}, 1); });
  expect_error("rotary_linear.head_dim",
               [] { rotary<float>({.head_dim = 7, .scaling = LinearScaling{}}, 1); });
  expect_error("rotary_linear.base",
               [] { rotary<float>({.head_dim = 8, .base = -1, .scaling = LinearScaling{}}, 1); });
  expect_error("rotary_linear.length",
               [] { rotary<float>({.head_dim = 8, .scaling = LinearScaling{}}, -1); });
  expect_error("rotary_linear.span", [] {
    rotary<float>({.head_dim = 8, .span = static_cast<RotarySpan>(9), .scaling = LinearScaling{}},
                  1);
  });
  expect_error("rotary_linear", [] {
    rotary<float>({.head_dim = 8, .scaling = LinearScaling{.factor = 1e-300}}, 1);
  });
  const std::int64_t far[] = {(std::int64_t{1} << 53) + 1};
  expect_error("rotary_linear.positions",
               [&] { rotary<float>({.head_dim = 8, .scaling = LinearScaling{}}, far); });
}

}  // namespace
}  // namespace sextant
