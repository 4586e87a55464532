// Dynamic NTK: printed bases, plain up to max_length, and the length that counts.
#include "sextant/schemes/rotated/rotary.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

using checks::expect_printed;
using checks::Real;

TEST(RotaryDynamicNtk, BasesAreAsPrinted) {
  const auto base = [](std::int64_t length) {
    return dynamic_ntk_base(10000, 128, {.factor = 2}, length);
  };
  EXPECT_EQ(base(4096), 10000);
  expect_printed(std::vector{base(8192), base(16384)}, std::vector{30527.737, 72195.860});
}

// The value of Hugging Face's own test, printed with five digits.
TEST(RotaryDynamicNtk, AgreesWithTheSnapshotOfHuggingFace) {
  for (const Precision precision : {Precision::exact, Precision::framework}) {
    const Rotary options{.head_dim = 128,
                         .scaling = DynamicNtkScaling{.factor = 10, .max_length = 2048},
                         .precision = precision};
    expect_printed(rotation_frequencies(options, 16384).inv_freq[1], 8.0931e-01, 5);
  }
}

TEST(RotaryDynamicNtk, IsPlainRotaryUpToMaxLength) {
  const RotationTable<float> plain = rotary<float>({.head_dim = 16}, 4096);
  const RotationTable<float> dynamic =
      rotary<float>({.head_dim = 16, .scaling = DynamicNtkScaling{}}, 4096);
  for (std::int64_t i = 0; i < plain.cos.count(); ++i) {
    ASSERT_EQ(dynamic.cos.data()[i], plain.cos.data()[i]);
    ASSERT_EQ(dynamic.sin.data()[i], plain.sin.data()[i]);
  }
  const RotationTable<float> longer =
      rotary<float>({.head_dim = 16, .scaling = DynamicNtkScaling{}}, 4097);
  EXPECT_NE(longer.sin(4095, 7), plain.sin(4095, 7));
}

TEST(RotaryDynamicNtk, TablesAreTrueForTheLargestPosition) {
  const auto positions = checks::some_positions();
  checks::Frequencies theta;
  const Real stretch = Real(3) * Real(2147483648.0) / 1000 - 2;
  for (int k = 0; k < 16; ++k) {
    theta.push_back(pow(Real(10000) * pow(stretch, Real(32) / 30), Real(-2 * k) / 32));
  }
  const Rotary options{.head_dim = 32,
                       .scaling = DynamicNtkScaling{.factor = 3, .max_length = 1000}};
  checks::expect_true(rotary(options, positions), positions, theta);
}

TEST(RotaryDynamicNtk, AGivenLengthCountsInsteadOfThePositions) {
  const std::int64_t late[] = {8191};
  const RotationTable<float> whole =
      rotary<float>({.head_dim = 16, .scaling = DynamicNtkScaling{}}, 8192);
  const RotationTable<float> pinned =
      rotary<float>({.head_dim = 16, .scaling = DynamicNtkScaling{.length = 8192}}, 10);
  const RotationTable<float> last =
      rotary<float>({.head_dim = 16, .scaling = DynamicNtkScaling{}}, late);
  for (std::int64_t k = 0; k < 8; ++k) {
    EXPECT_EQ(pinned.cos(9, k), whole.cos(9, k));
    EXPECT_EQ(last.cos(0, k), whole.cos(8191, k));
  }
}

TEST(RotaryDynamicNtk, NamesTheOptionAtFault) {
  const auto wrong = [](const char* name, Rotary options) {
    if (options.head_dim == 0) options.head_dim = 8;
    expect_error(std::string("rotary_dynamic_ntk.") + name, [&] { rotary<float>(options, 1); });
  };
  wrong("factor", {.scaling = DynamicNtkScaling{.factor = 0}});
  wrong("max_length", {.scaling = DynamicNtkScaling{.max_length = 0}});
  wrong("length", {.scaling = DynamicNtkScaling{.length = -1}});
  wrong("rotary_dim", {.head_dim = 2, .scaling = DynamicNtkScaling{}});
}

}  // namespace
}  // namespace sextant
