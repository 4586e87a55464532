// Proportional RoPE: printed values of the paper's model, and pairs that stand still.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

Tensor<double> turned(const Rotary& options, std::int64_t position,
                      const std::vector<double>& values) {
  Tensor<double> x({1, 1, 1, static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), x.data());
  rotate<double>(x, x, rotary<double>(options, std::span(&position, 1)));
  return x;
}

TEST(RotaryProportional, GivesTheValuesOfTheCatalogue) {
  const Tensor<double> x =
      turned({.head_dim = 8, .scaling = ProportionalScaling{.proportion = 0.5}}, 3,
             {1, 2, 3, 4, 5, 6, 7, 8});
  const double printed[] = {-1.6955925, 0.13755174, 3, 4, -4.8088425, 6.3230593, 7, 8};
  for (std::int64_t c = 0; c < 8; ++c) EXPECT_NEAR(x(0, 0, 0, c), printed[c], 5.01e-8);
}

TEST(RotaryProportional, AgreesWithTheTestOfGemma) {
  const Tensor<double> all =
      turned({.head_dim = 4, .base = 100, .scaling = ProportionalScaling{.proportion = 1}}, 1,
             {1, 1, 1, 1});
  const Tensor<double> half =
      turned({.head_dim = 4, .base = 100, .scaling = ProportionalScaling{.proportion = 0.5}}, 1,
             {1, 1, 1, 1});
  const double printed[2][4] = {{-0.30116868, 0.89517075, 1.3817732, 1.0948375},
                                {-0.30116868, 1, 1.3817732, 1}};
  for (std::int64_t c = 0; c < 4; ++c) {
    // Printed from float32: half a unit in the last place of 1.38.
    EXPECT_NEAR(all(0, 0, 0, c), printed[0][c], 1e-7);
    EXPECT_NEAR(half(0, 0, 0, c), printed[1][c], 1e-7);
  }
}

TEST(RotaryProportional, TablesAreTrueAndSlowPairsStandStill) {
  const auto positions = checks::some_positions();
  checks::Frequencies theta = checks::ladder(1e6, 64);
  for (std::size_t k = 0; k < 32; ++k) theta[k] = k < 8 ? theta[k] / 3 : 0;
  const Rotary options{.head_dim = 64, .base = 1e6, .scaling = ProportionalScaling{.factor = 3}};
  checks::expect_true(rotary(options, positions), positions, theta);
}

TEST(RotaryProportional, CountsWholePairs) {
  const auto turning = [](std::int64_t dim, double proportion) {
    const auto f =
        rotation_frequencies(
            Rotary{.head_dim = dim, .scaling = ProportionalScaling{.proportion = proportion}})
            .inv_freq;
    return std::count_if(f.begin(), f.end(), [](double x) { return x > 0; });
  };
  EXPECT_EQ(turning(6, 0.5), 1);  // 1.5 pairs
  EXPECT_EQ(turning(10, 0), 0);
  EXPECT_EQ(turning(10, 1), 5);
}

TEST(RotaryProportional, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Rotary options) {
    options.head_dim = 8;
    expect_error(std::string("rotary_proportional.") + name, [&] { rotary<float>(options, 1); });
  };
  wrong("proportion", {.scaling = ProportionalScaling{.proportion = 1.5}});
  wrong("proportion", {.scaling = ProportionalScaling{.proportion = NAN}});
  wrong("factor", {.scaling = ProportionalScaling{.factor = 0}});
}

}  // namespace
}  // namespace sextant
