// precision = framework against an emulation of float32 frameworks, and how far it is off.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <cstdio>

#include "reference/sinusoidal.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {
namespace {

// An independent emulation: the angle in float arithmetic, its sine by MPFR rounded to float.
TEST(SinusoidalFramework, EqualsAFloat32EmulationBitForBitAndErrsByPosition) {
  Sinusoidal options{.length = 16, .width = 128, .precision = Precision::framework};
  double previous = 0;
  std::printf(
      "precision = framework, width 128, 16 positions ending there: position, largest absolute "
      "error\n");
  for (const std::int64_t last : {255, 8191, 131071, 1048575}) {
    options.first = last - 15;
    const Tensor<float> table = sinusoidal<float>(options);
    const Tensor<bfloat16> narrow = sinusoidal<bfloat16>(options);
    double worst = 0;
    for (std::int64_t c = 0; c < 128; ++c) {
      const auto truth = reference::true_column(options, c);
      mpfr_t x;
      mpfr_init2(x, 200);
      for (std::int64_t i = 0; i < 16; ++i) {
        const auto frequency = static_cast<float>(
            std::pow(10000.0L, -2.0L * static_cast<long double>(c / 2) / 128.0L));
        const float angle = static_cast<float>(options.first + i) * frequency;
        mpfr_set_flt(x, angle, MPFR_RNDN);
        (c % 2 == 0 ? mpfr_sin : mpfr_cos)(x, x, MPFR_RNDN);
        const float expected = mpfr_get_flt(x, MPFR_RNDN);
        ASSERT_EQ(table(i, c), expected);
        ASSERT_EQ(narrow(i, c), bfloat16(expected));
        worst = std::max(worst, std::fabs(truth->difference(static_cast<double>(table(i, c)),
                                                            options.first + i)));
      }
      mpfr_clear(x);
    }
    std::printf("  %8lld  %.2e\n", static_cast<long long>(last), worst);
    EXPECT_GT(worst, previous);
    previous = worst;
  }
  // The catalogue's section 8.1 measured 1.3e-5, 4.6e-4, 7.6e-3 and 5.2e-2 for these positions.
  EXPECT_GT(previous, 1e-2);
  EXPECT_LT(previous, 0.2);
}

}  // namespace
}  // namespace sextant
