// Evenly spaced frequencies: true tables, float32 frequencies, and what is refused.
#include "sextant/schemes/rotated/new_scheme.h"

#include "schemes/rotated/rotation_checks.h"

namespace sextant {
namespace {

TEST(NewScheme, TablesAreTrue) {
  const auto positions = checks::some_positions();
  checks::Frequencies theta;  // 1, 0.75, 0.5, 0.25 of base 4
  for (int k = 0; k < 4; ++k) theta.push_back(reference::Real(1 - 0.25 * k));
  checks::expect_true(new_scheme({.head_dim = 8, .base = 4}, positions), positions, theta);
  EXPECT_EQ(rotation_frequencies(NewScheme{.head_dim = 2}).inv_freq[0], 1);
}

TEST(NewScheme, FrameworkPrecisionSubtractsInFloat32) {
  const NewScheme options{.head_dim = 6, .base = 3, .precision = Precision::framework};
  const RotationFrequencies made = rotation_frequencies(options);
  const RotationTable<float> table = new_scheme<float>(options, 100);
  for (std::int64_t k = 0; k < 3; ++k) {
    const float frequency = 1 - static_cast<float>(k) * ((1 - 1 / 3.0F) / 2);
    EXPECT_EQ(made.inv_freq[static_cast<std::size_t>(k)], frequency);
    EXPECT_EQ(table.sin(99, k), static_cast<float>(std::sin(static_cast<double>(99 * frequency))));
  }
}

TEST(NewScheme, NamesTheOptionAtFault) {
  expect_error("new_scheme.head_dim", [] { new_scheme<float>({.head_dim = 7}, 1); });
  expect_error("new_scheme.base", [] { new_scheme<float>({.head_dim = 8, .base = 0}, 1); });
  expect_error("new_scheme.length", [] { new_scheme<float>({.head_dim = 8}, -1); });
  expect_error("new_scheme", [] { new_scheme<float>({.head_dim = 8, .base = 1e-300}, 1); });
}

}  // namespace
}  // namespace sextant
