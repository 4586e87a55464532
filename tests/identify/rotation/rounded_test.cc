// Caches as modules make them in 16 bits, and frequencies alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "identify/identified.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

struct Rounds {
  const Type* positions = nullptr;
  const Type* frequencies = nullptr;
  const Type* angles = nullptr;
  const Type* values = nullptr;
};
double rounded(const Type* type, double value) {
  return type == nullptr ? value : type->round(value);
}

// [rows, 2 pairs] of cosines, twice side by side, in float32 unless `values` says otherwise.
Tensor<double> cache(double base, std::int64_t pairs, std::int64_t rows, const Rounds& rounds) {
  Tensor<double> table({rows, 2 * pairs});
  for (std::int64_t n = 0; n < rows; ++n) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const double exact = std::pow(base, -static_cast<double>(k) / static_cast<double>(pairs));
      const double theta = rounded(rounds.frequencies, exact);
      const double p = rounded(rounds.positions, static_cast<double>(n));
      const double angle = rounded(rounds.angles, p * theta);
      const double value = rounded(rounds.values, kFloat32.round(std::cos(angle)));
      table(n, k) = table(n, pairs + k) = value;
    }
  }
  return table;
}

void expect_mistake(const Identification& found, const std::string& mistake,
                    const std::string& says) {
  EXPECT_EQ(found.scheme, "rotary") << found.explanation;
  EXPECT_EQ(found.mistake, mistake) << found.explanation;
  EXPECT_THAT(found.explanation, HasSubstr(says));
}

TEST(IdentifyRounded, NamesRoundedPositions) {
  for (const double base : {10000.0, 500000.0, 77777.0}) {
    SCOPED_TRACE(base);
    const auto found = [&](const Type& type, std::int64_t rows) {
      return identified(cache(base, 16, rows, {.positions = &type}), kFloat32);
    };
    const Identification short_one = found(kBfloat16, 600);
    expect_mistake(short_one, "positions_rounded_to_bfloat16", "beyond 256, so that rows repeat");
    EXPECT_EQ(short_one.parameters.contains("base"), base != 10000);
    if (base != 10000) {
      EXPECT_EQ(number(short_one, "base"), base) << short_one.explanation;
    }
    expect_mistake(found(kFloat16, 2500), "positions_rounded_to_float16", "beyond 2048");
    // Positions up to 256 are exact: nothing is wrong with these rows.
    EXPECT_EQ(found(kBfloat16, 257).mistake, "");
    EXPECT_EQ(found(kFloat16, 600).mistake, "");
  }
}

TEST(IdentifyRounded, NamesRoundedFrequencies) {
  for (const Type* type : {&kBfloat16, &kFloat16}) {
    const Identification found = identified(cache(10000, 32, 700, {.frequencies = type}), kFloat32);
    expect_mistake(found, std::string("frequencies_rounded_to_") + type->name,
                   std::string("Frequencies were rounded to ") + type->name);
    EXPECT_EQ(found.head_dim, 64);
  }
  expect_mistake(
      identified(cache(1000000, 32, 700, {.positions = &kBfloat16, .frequencies = &kBfloat16}),
                 kFloat32),
      "positions_and_frequencies_rounded_to_bfloat16", "rows repeat. Frequencies were rounded");
}

// A module that runs in 16 bits as a whole: products are rounded, and so are the cosines.
TEST(IdentifyRounded, NamesRoundedAngles) {
  for (const Type* type : {&kBfloat16, &kFloat16}) {
    for (const Type* stored : {type, &kFloat32}) {
      expect_mistake(
          identified(cache(10000, 32, 500, {type, type, type, type}), *stored),
          std::string("angles_rounded_to_") + type->name,
          std::string("Positions, frequencies and angles were rounded to ") + type->name);
    }
  }
}

TEST(IdentifyRounded, NamesShortValuesInAWiderType) {
  for (const Type* type : {&kBfloat16, &kFloat16}) {
    const Tensor<double> table = cache(10000, 32, 200, {.values = type});
    expect_mistake(identified(table, kFloat32), std::string("values_rounded_to_") + type->name,
                   std::string("Every value is one of ") + type->name);
    EXPECT_EQ(identified(table, *type).mistake, "") << "that is what was said";
  }
}

Tensor<double> frequencies(double base, std::int64_t pairs, double divisor, const Type& type) {
  Tensor<double> list({pairs});
  for (std::int64_t k = 0; k < pairs; ++k) {
    const double exact = std::pow(base, -static_cast<double>(k) / static_cast<double>(pairs));
    list(k) = type.round(exact / divisor);
  }
  return list;
}

TEST(IdentifyRounded, TakesFrequenciesAlone) {
  for (const Type& type : {kFloat64, kFloat32, kBfloat16}) {
    const Identification found = identified(frequencies(10000, 64, 1, type), type);
    EXPECT_EQ(found.scheme, "rotary") << type.name << found.explanation;
    EXPECT_EQ(found.mistake, "");
    EXPECT_EQ(found.form, "frequencies (inv_freq)");
    EXPECT_EQ(found.head_dim, 128);
  }
  EXPECT_EQ(number(identified(frequencies(500000, 64, 1, kFloat32), kFloat32), "base"), 500000);
  const Identification linear = identified(frequencies(10000, 64, 4, kFloat32), kFloat32);
  EXPECT_EQ(linear.scheme, "rotary_linear");
  EXPECT_EQ(number(linear, "factor"), 4);
  for (const Type* type : {&kBfloat16, &kFloat16}) {
    expect_mistake(identified(frequencies(10000, 64, 1, *type), kFloat32),
                   std::string("frequencies_rounded_to_") + type->name, "Frequencies were rounded");
  }
}

TEST(IdentifyRounded, LeavesOtherNumbersAlone) {
  Tensor<double> slopes({8}), steps({8}), rising({8});
  for (std::int64_t k = 0; k < 8; ++k) {
    slopes(k) = std::exp2(-static_cast<double>(k + 1));
    steps(k) = 1 - 0.1 * static_cast<double>(k);
    rising(k) = std::pow(10000, static_cast<double>(k) / 8);
  }
  EXPECT_EQ(identified(slopes, kFloat32).scheme, "alibi");
  EXPECT_EQ(identified(slopes, kFloat32).mistake, "");
  EXPECT_EQ(identified(steps, kFloat32).scheme, "unknown");
  EXPECT_EQ(identified(rising, kFloat32).scheme, "unknown");
}

}  // namespace
}  // namespace sextant
