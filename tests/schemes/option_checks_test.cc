// What the makers of tables refuse before they compute: numbers of threads, and memory that cannot
// hold the result.
#include "core/options/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "sextant/schemes/added/sinusoidal.h"
#include "support/error_of.h"

namespace sextant::option_checks_test {
namespace {

TEST(OptionChecks, RefuseThreadsBeforeAnyWork) {
  EXPECT_EQ(error_of([] { sinusoidal<float>({.width = 4, .threads = 5000}); }),
            "[sinusoidal.threads] must be 0 .. 1024, got 5000");
  EXPECT_EQ(error_of([] { sinusoidal<float>({.width = 4, .threads = -1}); }),
            "[sinusoidal.threads] must be 0 .. 1024, got -1");
  EXPECT_EQ(error_of([] { sinusoidal<float>({.width = 4, .threads = 1024}); }), "no error");
}

TEST(OptionChecks, RefuseNumbersThatAreNoEnumerators) {
  EXPECT_EQ(
      error_of([] { sinusoidal<float>({.width = 4, .layout = static_cast<SinusoidalLayout>(3)}); }),
      "[sinusoidal.layout] must be one of the named values, got 3");
  EXPECT_EQ(error_of([] { sinusoidal<float>({.width = 4, .ladder = static_cast<Ladder>(-1)}); }),
            "[sinusoidal.ladder] must be one of the named values, got -1");
  EXPECT_EQ(
      error_of([] { sinusoidal<float>({.width = 4, .odd_width = static_cast<OddWidth>(3)}); }),
      "[sinusoidal.odd_width] must be one of the named values, got 3");
}

TEST(OptionChecks, RefuseRowsThatOverlap) {
  std::vector<float> memory(64);
  const auto write = [&](float* data, std::int64_t stride) {
    return error_of([&] {
      sinusoidal_into(View<float>(data, Shape{3, 4}, std::array<std::int64_t, 2>{stride, 1}),
                      {.length = 3, .width = 4});
    });
  };
  const std::string apart =
      "[sinusoidal_into.out] must have a separate element for every result, got stride ";
  EXPECT_EQ(write(memory.data(), 0), apart + "0 at axis 0");
  EXPECT_EQ(write(memory.data(), 3), apart + "3 at axis 0");
  EXPECT_EQ(write(memory.data() + 32, -3), apart + "-3 at axis 0");
  EXPECT_EQ(write(memory.data(), 4), "no error");
  EXPECT_EQ(write(memory.data() + 32, -4), "no error");
  EXPECT_EQ(memory[32], 0);  // sin 0
  EXPECT_EQ(memory[33], 1);  // cos 0
  EXPECT_EQ(write(nullptr, 4),
            "[sinusoidal_into.out] must point to [3, 4] elements, got a null pointer");
}

}  // namespace
}  // namespace sextant::option_checks_test
