// NTK-aware bases: printed ones, and the last pair slowed by exactly the factor.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

using checks::expect_printed;
using checks::Real;

TEST(RotaryNtk, BasesAreAsPrinted) {
  const auto base = [](std::int64_t dim, double factor) {
    return ntk_base(10000, dim, {.factor = factor});
  };
  expect_printed(std::vector{base(128, 2), base(128, 4), base(128, 8), base(64, 4)},
                 std::vector{20221.262, 40889.942, 82684.623, 41829.366});
}

TEST(RotaryNtk, TablesAreTrue) {
  const auto positions = checks::some_positions();
  for (const double factor : {4.0, 0.75}) {
    checks::Frequencies theta;
    for (int k = 0; k < 32; ++k) {
      const Real base = Real(10000) * pow(Real(factor), Real(64) / 62);
      theta.push_back(pow(base, Real(-2 * k) / 64));
    }
    const Rotary options{.head_dim = 64, .scaling = NtkScaling{.factor = factor}};
    checks::expect_true(rotary(options, positions), positions, theta);
  }
}

TEST(RotaryNtk, TheLastPairIsSlowedByTheFactorAndTheFirstIsNot) {
  for (const Precision precision : {Precision::exact, Precision::framework}) {
    const auto f =
        rotation_frequencies(
            Rotary{.head_dim = 64, .scaling = NtkScaling{.factor = 8}, .precision = precision})
            .inv_freq;
    const auto plain =
        rotation_frequencies(Rotary{.head_dim = 64, .precision = precision}).inv_freq;
    EXPECT_EQ(f[0], 1);
    // Two float32 roundings of each, and one of the exponent, times ln of the base.
    const double tolerance = precision == Precision::exact ? 0x1p-50 : 16 * 0x1p-24;
    EXPECT_NEAR(f[31] * 8 / plain[31], 1, tolerance);
  }
}

TEST(RotaryNtk, NamesTheOptionAtFault) {
  expect_error("rotary_ntk.factor",
               [] { rotary<float>({.head_dim = 8, .scaling = NtkScaling{.factor = -1}}, 1); });
  expect_error("rotary_ntk.rotary_dim",
               [] { rotary<float>({.head_dim = 2, .scaling = NtkScaling{}}, 1); });
  expect_error("ntk_base.rotary_dim", [] { ntk_base(10000, 2, {}); });
}

}  // namespace
}  // namespace sextant
