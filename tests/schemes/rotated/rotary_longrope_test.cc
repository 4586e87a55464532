// LongRoPE: the list that counts, and the amplitude.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

using checks::expect_printed;

Rotary small() {
  return {.head_dim = 8,
          .scaling = LongropeScaling{.short_factor = {1, 1.25, 1.5, 2},
                                     .long_factor = {1.1, 3.3, 17, 40},
                                     .original_length = 100}};
}

TEST(RotaryLongrope, TablesAreTrueWithTheListOfTheLength) {
  const auto positions = checks::some_positions();
  for (const std::int64_t length : {100, 101}) {
    Rotary options = small();
    auto& scaling = std::get<LongropeScaling>(options.scaling);
    scaling.length = length;
    scaling.factor = 32;
    checks::Frequencies theta = checks::ladder(10000, 8);
    for (std::size_t k = 0; k < 4; ++k) {
      theta[k] = theta[k] / (length > 100 ? scaling.long_factor : scaling.short_factor)[k];
    }
    checks::expect_true(rotary(options, positions), positions, theta,
                        rotation_frequencies(options).attention_factor);
  }
}

TEST(RotaryLongrope, ALongerTextTakesTheLongList) {
  const std::int64_t within[] = {0, 99};
  const std::int64_t beyond[] = {0, 99, 100};
  EXPECT_EQ(rotary<double>(small(), within).cos(1, 0), std::cos(99.0));
  EXPECT_NEAR(rotary<double>(small(), beyond).cos(1, 0), std::cos(90.0), 90 * 0x1p-52);
  EXPECT_EQ(rotary<double>(small(), 100).cos(99, 0), std::cos(99.0));
  EXPECT_EQ(rotation_frequencies(small(), 100).inv_freq[3], 0.0005);
  EXPECT_EQ(rotation_frequencies(small(), 101).inv_freq[3], 0.001 / 40);
}

TEST(RotaryLongrope, AmplitudesAreAsPrinted) {
  const auto m = [](Rotary options) {
    options.head_dim = 8;
    return rotation_frequencies(options).attention_factor;
  };
  expect_printed(
      std::vector{m({.scaling = LongropeScaling{.original_length = 4096, .max_length = 131072}}),
                  m({.scaling = LongropeScaling{.original_length = 4096, .factor = 8}}),
                  m({.scaling = LongropeScaling{.original_length = 32768, .factor = 4}})},
      std::vector{1.1902381, 1.1180340, 1.0645813});
  EXPECT_EQ(m({.scaling = LongropeScaling{}}), 1);
  EXPECT_EQ(m({.scaling = LongropeScaling{.factor = 0.5}}), 1);
  EXPECT_EQ(
      m({.scaling = LongropeScaling{.max_length = 131072, .factor = 8, .attention_factor = 1.25}}),
      1.25);
}

TEST(RotaryLongrope, FrameworkPrecisionDividesThePowers) {
  Rotary options = small();
  options.precision = Precision::framework;
  const auto f = rotation_frequencies(options).inv_freq;
  EXPECT_EQ(f[1], 1 / (1.25F * 10.0F));
  EXPECT_EQ(f[2], 1 / (1.5F * 100.0F));
}

TEST(RotaryLongrope, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Rotary options) {
    options.head_dim = 8;
    expect_error(std::string("rotary_longrope.") + name, [&] { rotary<float>(options, 1); });
  };
  wrong("short_factor", {.scaling = LongropeScaling{.short_factor = {1, 2, 3}}});
  wrong("long_factor", {.scaling = LongropeScaling{.long_factor = {1, 2, 3, 0}}});
  wrong("original_length", {.scaling = LongropeScaling{.original_length = 1}});
  wrong("max_length", {.scaling = LongropeScaling{.max_length = 0}});
  wrong("factor", {.scaling = LongropeScaling{.factor = 0}});
  wrong("attention_factor", {.scaling = LongropeScaling{.attention_factor = -1}});
  wrong("length", {.scaling = LongropeScaling{.length = -1}});
}

}  // namespace
}  // namespace sextant
