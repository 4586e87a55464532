// Caches of rotations, made from the formulas as frameworks make them, cut and rounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "identify/identified.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

// The frequencies of the papers, in float64.
std::vector<double> plain(double base, std::int64_t pairs) {
  std::vector<double> result;
  for (std::int64_t k = 0; k < pairs; ++k) {
    result.push_back(std::pow(base, -static_cast<double>(k) / static_cast<double>(pairs)));
  }
  return result;
}

std::vector<double> llama3(double base, std::int64_t pairs, double factor, double low, double high,
                           double length) {
  std::vector<double> theta = plain(base, pairs);
  for (double& t : theta) {
    const double wavelength = 2 * std::numbers::pi / t;
    if (wavelength < length / high) continue;
    if (wavelength > length / low) {
      t /= factor;
    } else {
      const double u = (length / wavelength - low) / (high - low);
      t = (1 - u) * t / factor + u * t;
    }
  }
  return theta;
}

std::vector<double> yarn(double base, std::int64_t pairs, double factor, double length,
                         bool truncate) {
  std::vector<double> theta = plain(base, pairs);
  const auto corner = [&](double turns) {
    return static_cast<double>(pairs) * std::log(length / (2 * std::numbers::pi * turns)) /
           std::log(base);
  };
  double low = corner(32), high = corner(1);
  if (truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(2 * pairs - 1));
  for (std::int64_t k = 0; k < pairs; ++k) {
    const double ramp = std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0);
    theta[k] = theta[k] / factor * ramp + theta[k] * (1 - ramp);
  }
  return theta;
}

enum class RuleHolds { cosines, sines, concatenated, repeated, side_by_side, complex };

struct Cache {
  std::vector<double> theta;
  std::int64_t rows = 200;
  std::int64_t first = 0;
  double amplitude = 1;
  bool float32 = false;  // angles as frameworks compute them
};

Tensor<double> made(const Cache& cache, RuleHolds holds, const Type& type) {
  const auto pairs = static_cast<std::int64_t>(cache.theta.size());
  const bool wide = holds != RuleHolds::cosines && holds != RuleHolds::sines;
  Tensor<double> table({cache.rows, wide ? 2 * pairs : pairs});
  for (std::int64_t n = 0; n < cache.rows; ++n) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const double p = static_cast<double>(cache.first + n);
      const double theta = cache.theta[k];
      double c = 0, s = 0;
      if (cache.float32) {
        const float angle = static_cast<float>(p) * static_cast<float>(theta);
        c = static_cast<double>(std::cos(angle) * static_cast<float>(cache.amplitude));
        s = static_cast<double>(std::sin(angle) * static_cast<float>(cache.amplitude));
      } else {
        c = cache.amplitude * std::cos(p * theta);
        s = cache.amplitude * std::sin(p * theta);
      }
      c = type.round(c);
      s = type.round(s);
      switch (holds) {
        case RuleHolds::cosines:
          table(n, k) = c;
          break;
        case RuleHolds::sines:
          table(n, k) = s;
          break;
        case RuleHolds::concatenated:
          table(n, k) = table(n, pairs + k) = c;
          break;
        case RuleHolds::repeated:
          table(n, 2 * k) = table(n, 2 * k + 1) = s;
          break;
        case RuleHolds::side_by_side:
          table(n, k) = c;
          table(n, pairs + k) = s;
          break;
        case RuleHolds::complex:
          table(n, 2 * k) = c;
          table(n, 2 * k + 1) = s;
          break;
      }
    }
  }
  return table;
}

TEST(IdentifyRotations, PlainCachesInEveryFormAndType) {
  const struct {
    RuleHolds holds;
    const char* form;
  } forms[] = {{RuleHolds::cosines, "cosines"},
               {RuleHolds::sines, "sines"},
               {RuleHolds::concatenated, "cosines, twice side by side"},
               {RuleHolds::repeated, "sines, each twice"}};
  for (const Type& type : {kFloat64, kFloat32, kFloat16, kBfloat16}) {
    for (const auto& [holds, form] : forms) {
      for (const double base : {10000.0, 500000.0}) {
        SCOPED_TRACE(std::string(type.name) + " " + form + " " + shortest(base));
        const Identification found = identified(made({plain(base, 32)}, holds, type), type);
        ASSERT_EQ(found.scheme, "rotary") << found.explanation;
        EXPECT_EQ(found.form, form);
        EXPECT_EQ(found.head_dim, 64);
        EXPECT_EQ(found.first, 0);
        EXPECT_EQ(found.attention_factor, 1);
        EXPECT_EQ(found.parameters.contains("base"), base != 10000);
        EXPECT_EQ(found.parameters.contains("layout"), holds == RuleHolds::repeated);
        EXPECT_FALSE(found.parameters.contains("precision")) << found.explanation;
        // Two roundings of numbers up to one, on two sides of a boundary.
        EXPECT_LE(found.max_deviation, 2 * type.unit_roundoff + 0x1p-44);
      }
    }
  }
}

TEST(IdentifyRotations, ComplexCachesHavePairsOfNumbers) {
  for (const Type& type : {kFloat32, kBfloat16}) {
    Tensor<double> table = made({plain(10000, 16)}, RuleHolds::complex, type);
    const Identification found =
        identify_array(View<const double>(table.data(), {200, 16, 2}), type.unit_roundoff);
    EXPECT_EQ(found.scheme, "rotary") << found.explanation;
    EXPECT_EQ(found.form, "[position, pair, cosine and sine]");
    EXPECT_EQ(found.head_dim, 32);
  }
}

TEST(IdentifyRotations, SideBySideTheyAreAlsoASinusoidalTable) {
  const Identification found =
      identified(made({plain(10000, 16)}, RuleHolds::side_by_side, kFloat32), kFloat32);
  EXPECT_EQ(found.scheme, "sinusoidal");
  EXPECT_EQ(found.parameters.at("layout"), "cos_first");
  EXPECT_THAT(found.explanation, HasSubstr("rotary, head_dim 32"));
  const Identification scaled = identified(
      made({llama3(500000, 64, 8, 1, 4, 8192)}, RuleHolds::side_by_side, kFloat32), kFloat32);
  EXPECT_EQ(scaled.scheme, "rotary_llama3");
  EXPECT_EQ(scaled.form, "cosines, then sines");
}

TEST(IdentifyRotations, SlicesStartAnywhere) {
  for (const std::int64_t first : {1, 17, 1000, 30000}) {
    for (const RuleHolds holds : {RuleHolds::cosines, RuleHolds::sines}) {
      const Identification found =
          identified(made({plain(10000, 32), 128, first}, holds, kFloat32), kFloat32);
      ASSERT_EQ(found.scheme, "rotary") << first << found.explanation;
      EXPECT_EQ(found.first, first);
    }
  }
  const Identification found =
      identified(made({plain(10000, 32), 128, 100}, RuleHolds::cosines, kFloat16), kFloat16);
  EXPECT_EQ(found.scheme, "rotary") << found.explanation;
  EXPECT_EQ(found.first, 100);
}

TEST(IdentifyRotations, FrameworksAnglesAreNamed) {
  const Identification found = identified(
      made({plain(10000, 64), 4096, 0, 1, true}, RuleHolds::concatenated, kFloat32), kFloat32);
  ASSERT_EQ(found.scheme, "rotary") << found.explanation;
  EXPECT_EQ(found.parameters.at("precision"), "framework");
  EXPECT_THAT(found.explanation, HasSubstr("float32"));
}

TEST(IdentifyRotations, LinearScalingDividesAllFrequencies) {
  for (const double factor : {2.0, 4.0, 8.0}) {
    for (const Type& type : {kFloat64, kFloat32, kBfloat16}) {
      std::vector<double> theta = plain(10000, 32);
      for (double& t : theta) t /= factor;
      const Identification found = identified(made({theta}, RuleHolds::cosines, type), type);
      ASSERT_EQ(found.scheme, "rotary_linear") << type.name << found.explanation;
      EXPECT_EQ(number(found, "factor"), factor);
      EXPECT_FALSE(found.parameters.contains("base")) << found.explanation;
    }
  }
}

TEST(IdentifyRotations, NtkAwareScalingIsAnotherBase) {
  const double base = 10000 * std::pow(4, 128.0 / 126);
  const Identification found = identified(made({plain(base, 64)}, RuleHolds::cosines, kFloat64));
  ASSERT_EQ(found.scheme, "rotary");
  EXPECT_NEAR(number(found, "base"), 40889.942, 0.001);
  EXPECT_THAT(found.explanation, HasSubstr("10000 changed for factor 4"));
}

TEST(IdentifyRotations, Llama3IsKnownByItsBlend) {
  const struct {
    double base, factor;
    std::int64_t pairs;
  } models[] = {{500000, 8, 64}, {500000, 32, 32}};
  for (const auto& [base, factor, pairs] : models) {
    for (const Type& type : {kFloat64, kFloat32}) {
      for (const bool float32 : {false, true}) {
        if (float32 && type.unit_roundoff < 0x1p-24) continue;
        const Cache cache{llama3(base, pairs, factor, 1, 4, 8192), 2048, 0, 1, float32};
        const Identification found = identified(made(cache, RuleHolds::concatenated, type), type);
        ASSERT_EQ(found.scheme, "rotary_llama3") << type.name << " " << found.explanation;
        EXPECT_EQ(number(found, "base"), base);
        EXPECT_EQ(number(found, "factor"), factor);
        EXPECT_EQ(number(found, "low_freq_factor"), 1);
        EXPECT_EQ(number(found, "high_freq_factor"), 4);
        EXPECT_EQ(number(found, "original_length"), 8192);
      }
    }
  }
}

TEST(IdentifyRotations, YarnIsKnownByItsRampAndItsAmplitude) {
  const struct {
    double base, factor, length;
    std::int64_t pairs;
    bool truncate;
    double amplitude;                              // 0: the usual one
  } models[] = {{1e6, 4, 32768, 64, true, 0},      // Qwen2.5
                {1e4, 40, 4096, 32, true, 1},      // DeepSeek
                {1.5e5, 32, 4096, 32, false, 0}};  // gpt-oss
  for (const auto& [base, factor, length, pairs, truncate, amplitude] : models) {
    for (const Type& type : {kFloat64, kFloat32}) {
      const double usual = 0.1 * std::log(factor) + 1;
      const Cache cache{yarn(base, pairs, factor, length, truncate), 2048, 0,
                        amplitude == 0 ? usual : amplitude};
      const Identification found = identified(made(cache, RuleHolds::cosines, type), type);
      ASSERT_EQ(found.scheme, "rotary_yarn") << shortest(base) << type.name << found.explanation;
      EXPECT_EQ(number(found, "base"), base);
      EXPECT_EQ(number(found, "factor"), factor);
      EXPECT_EQ(number(found, "original_length"), length);
      EXPECT_EQ(found.parameters.contains("truncate"), !truncate);
      EXPECT_EQ(found.parameters.contains("attention_factor"), amplitude != 0);
      EXPECT_NEAR(found.attention_factor, cache.amplitude, 1e-6);
    }
  }
}

TEST(IdentifyRotations, ProportionalOnesStandStillAtTheEnd) {
  std::vector<double> theta = plain(10000, 32);
  std::fill(theta.begin() + 8, theta.end(), 0);
  const Identification found = identified(made({theta}, RuleHolds::cosines, kFloat32), kFloat32);
  ASSERT_EQ(found.scheme, "rotary_proportional") << found.explanation;
  EXPECT_EQ(number(found, "proportion"), 0.25);
}

TEST(IdentifyRotations, UnknownRulesAreListed) {
  std::vector<double> theta = plain(10000, 16);
  for (std::size_t k = 0; k < 16; ++k) theta[k] *= 1 - 0.3 * std::sin(static_cast<double>(k));
  const Identification found = identified(made({theta}, RuleHolds::cosines, kFloat64));
  ASSERT_EQ(found.scheme, "rotary_unknown") << found.explanation;
  ASSERT_EQ(found.inv_freq.size(), 16U);
  for (std::size_t k = 0; k < 16; ++k) EXPECT_NEAR(found.inv_freq[k], theta[k], 1e-7 * theta[k]);
}

TEST(IdentifyRotations, WhatIsNoRotationIsUnknown) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Tensor<double> noise({100, 32});
  for (double& x : noise.span()) x = normal(random);
  EXPECT_EQ(identified(noise).scheme, "unknown");
  Tensor<double> ones({100, 32});
  for (double& x : ones.span()) x = 1;
  EXPECT_EQ(identified(ones).scheme, "unknown");
  Tensor<double> damaged = made({plain(10000, 16)}, RuleHolds::cosines, kFloat64);
  for (std::int64_t n = 0; n < 200; ++n) damaged(n, 5) = normal(random);
  EXPECT_EQ(identified(damaged).scheme, "unknown");
}

// The parameters that are found make the frequencies that were found.
TEST(IdentifyRotations, ParametersMakeTheFrequencies) {
  std::vector<double> proportional = plain(10000, 22);
  std::fill(proportional.begin() + 15, proportional.end(), 0);  // 15 / 22 of 22 is below 15
  std::vector<double> linear = plain(500000, 24);
  for (double& t : linear) t /= 4;
  for (const std::vector<double>& theta :
       {proportional, linear, plain(10000, 24), llama3(500000, 64, 8, 1, 4, 8192),
        yarn(1e4, 32, 40, 4096, true), yarn(1.5e5, 32, 32, 4096, false)}) {
    const Identification found = identified(made({theta}, RuleHolds::cosines, kFloat64));
    SCOPED_TRACE(found.explanation);
    SchemeRequest request;
    request.head_dim = found.head_dim;
    request.parameters = found.parameters;
    const RotationFrequencies again = find_scheme(found.scheme).frequencies(request);
    ASSERT_EQ(again.inv_freq.size(), theta.size());
    for (std::size_t k = 0; k < theta.size(); ++k) {
      EXPECT_NEAR(again.inv_freq[k], theta[k], 1e-12 * theta[k]) << k;
      EXPECT_EQ(again.inv_freq[k], found.inv_freq[k]) << k;
    }
    EXPECT_EQ(again.attention_factor, 1);
  }
}

}  // namespace
}  // namespace sextant
